/** A `fetch` whose answers say of data files, below `d/`, which version they are of. */
export const fetchOfVersion =
  (versionOf: () => number) =>
  async (url: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(url, init);
    if (!/\/d\//.test(url)) return response;
    const headers = new Headers(response.headers);
    headers.set("etag", `"${versionOf()}"`);
    return new Response(response.body, { status: response.status, headers });
  };
