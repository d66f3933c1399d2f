import { webhookHmac } from '../standard-webhooks.ts';

/** Signs events as Standard Webhooks specifies. */

/**
 * The headers of one attempt. During a rotation both secrets sign.
 * @param secrets the current one first
 */
export function signedHeaders(
  { id, atMs, body }: { readonly id: string; readonly atMs: number; readonly body: string },
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const signatures = secrets.map((secret) => {
    const hmac = webhookHmac(secret, id, timestamp).update(body);
    return `v1,${hmac.digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
