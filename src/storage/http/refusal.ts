/** Whether a refusal may be over at the next try. */
export const mayPass = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** Bytes of a refusal's body that are looked at: enough for an object store's error code. */
export const refusalLength = 4096;
