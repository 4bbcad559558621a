/** This package's version, as `package.json` has it; stands in the records of the steps that it saves. */
export const version = "0.1.0";
