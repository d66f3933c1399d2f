import type { ByteShares, FreeBytes } from '../../core/byte-shares.ts';
import { CallFailure } from '../../core/failure.ts';

/**
 * Counts what an open call keeps of its request until it is freed.
 * @throws {CallFailure} if the open calls of the workspace keep too much
 */
export function holdCallBytes(
  callBytes: ByteShares,
  workspaceId: string,
  bytes: number,
): FreeBytes {
  const free = callBytes.tryHold(workspaceId, bytes);
  if (free) return free;
  const { workspaceMax, max } = callBytes;
  const message = `What the open calls of this workspace keep of their requests takes their share of the memory of this process: ${workspaceMax} of ${max} bytes. Send shorter instructions, tools, formats or arguments, or try again when a call has ended.`;
  throw new CallFailure('UNAVAILABLE', message, { retryAfter: 5 });
}
