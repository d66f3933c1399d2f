import { randomFillSync } from 'node:crypto';

/** Random bytes for names. They are drawn in blocks: a call to the system for each costs more than all else of an id. */

const block = Buffer.allocUnsafe(4_096);
let used = block.length;

/** So many random bytes, at most a block, as hexadecimal digits. */
export function randomHex(bytes: number): string {
  if (used + bytes > block.length) {
    randomFillSync(block);
    used = 0;
  }
  used += bytes;
  return block.toString('hex', used - bytes, used);
}
