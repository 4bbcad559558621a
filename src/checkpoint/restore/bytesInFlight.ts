/** How the bytes that may be in flight at once are divided. */
export interface BytesInFlight {
  /** For what is read and decoded. */
  readonly reading: number;
  /** For each device: what was sent to it and not yet taken by it. */
  readonly sending: number;
}

/** A larger window does not send faster, and the GPU process holds as much. */
const largestWindow = 8 * 1024 * 1024;

/** Divides `total` bytes between reading and the devices, half for each side where the devices need so much. */
export function divideBytes(total: number, devices: number): BytesInFlight {
  const sending = devices === 0 ? 0 : Math.min(largestWindow, Math.floor(total / 2 / devices));
  return { reading: total - devices * sending, sending };
}
