import { AwsV4Signer } from 'aws4fetch';

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * The same `fetch`, with requests signed for Bedrock. Signing comes last, because a signature covers the body and the
 * query; the provider package would sign before they are complete.
 */
export function signRequests(
  fetch: typeof globalThis.fetch,
  region: string,
  keys: () => Promise<AwsKeys>,
): typeof fetch {
  return async (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.delete('authorization');
    const signed = await new AwsV4Signer({
      service: 'bedrock',
      region,
      ...(await keys()),
      url: String(input),
      method: init.method ?? 'GET',
      headers,
      body: init.body ?? null,
    }).sign();
    return fetch(signed.url.href, { ...init, headers: Object.fromEntries(signed.headers) });
  };
}
