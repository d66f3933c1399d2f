/**
 * Finds where records end in what an export sends, byte by byte: a line of JSON, or a line of CSV that may have others in
 * quotes. What comes after the last end is kept until the rest is there, so that what is passed on is always whole.
 */
export interface RecordSplitter {
  /** What of this and of what was kept before makes up whole records; may be empty. */
  push(bytes: Uint8Array): Uint8Array;
  /** Whole records so far; the head of a CSV is none. */
  readonly records: number;
  /** The `executionId` of the last of them. */
  readonly lastId: string | null;
}

const [newline, quote] = [0x0a, 0x22];
/** At the beginning of a record of either form. */
const idAtStart = /^(?:\{"executionId":")?(exe_[0-9a-z]{26})/;
const idBytesMax = 64;

export function recordSplitter(form: 'jsonl' | 'csv'): RecordSplitter {
  let kept: Uint8Array = new Uint8Array();
  let quoted = false;
  let records = 0;
  let lastId: string | null = null;
  return {
    push(bytes) {
      const all = kept.length === 0 ? bytes : Buffer.concat([kept, bytes]);
      let end = 0;
      for (let at = kept.length; at < all.length; at++) {
        if (form === 'csv' && all[at] === quote) quoted = !quoted;
        if (all[at] !== newline || quoted) continue;
        const id = idAtStart.exec(textAt(all, end))?.[1];
        if (id !== undefined) {
          records++;
          lastId = id;
        }
        end = at + 1;
      }
      kept = all.subarray(end);
      return all.subarray(0, end);
    },
    get records() {
      return records;
    },
    get lastId() {
      return lastId;
    },
  };
}

function textAt(bytes: Uint8Array, at: number): string {
  return Buffer.from(
    bytes.buffer,
    bytes.byteOffset + at,
    Math.min(idBytesMax, bytes.length - at),
  ).toString('latin1');
}
