/** The format this package reads, as substrax names it. */
export const formatName = "substrax-checkpoint";
/** The version of the format this package reads. */
export const formatVersion = 1;
