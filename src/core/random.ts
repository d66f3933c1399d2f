import { randomFillSync } from 'node:crypto';

/**
 * Random bytes for identifiers, drawn in blocks: one system call per identifier would cost more than the rest of it.
 */

const block = Buffer.allocUnsafe(4_096);
let used = block.length;

/** Random bytes (at most one block) as hexadecimal digits. */
export function randomHex(bytes: number): string {
  if (used + bytes > block.length) {
    randomFillSync(block);
    used = 0;
  }
  used += bytes;
  return block.toString('hex', used - bytes, used);
}
