/** What a restore asked of the server. */
export interface Traffic {
  readonly requests: number;
  /** Bytes of all answers' bodies. */
  readonly bytes: number;
}

let traffic: Traffic = { requests: 0, bytes: 0 };

/** Begins to count anew. */
export const forgetTraffic = (): void => {
  traffic = { requests: 0, bytes: 0 };
};

/** Requests of {@link countingFetch}, and the bytes of those that were answered. */
export const trafficSoFar = (): Traffic => traffic;

/** `fetch`, counted here: a browser's own records of requests come some time after the answers. */
export async function countingFetch(url: string, init: RequestInit): Promise<Response> {
  traffic = { ...traffic, requests: traffic.requests + 1 };
  const answer = await fetch(url, init);
  const bytes = init.method === "HEAD" ? 0 : Number(answer.headers.get("content-length"));
  traffic = { ...traffic, bytes: traffic.bytes + bytes };
  return answer;
}
