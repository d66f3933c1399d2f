/**
 * Finds where records end in what an export sends, byte by byte: a line of JSON, or a line of CSV that may have others in
 * quotes. What comes after the last end is kept until the rest is there, so that what is passed on is always whole.
 */
export type ExportFormat = 'jsonl' | 'csv';

export interface RecordSplitter {
  /** What of this and of what was kept before makes up whole records and a head that is new; may be empty. */
  push(bytes: Uint8Array): Uint8Array;
  /** Whole records so far; the head of a CSV is none. */
  readonly records: number;
  /** The `executionId` of the last of them. */
  readonly lastId: string | null;
  /** Whether the head of a CSV has come, here or before. */
  readonly headCame: boolean;
}

const [newline, quote] = [0x0a, 0x22];
/** At the beginning of a record of either form. */
const idAtStart = /^(?:\{"executionId":")?(exe_[0-9a-z]{26})/;
const idBytesMax = 64;
const beginnings = { jsonl: '{"executionId":"', csv: 'executionId,' } as const;

/** The form of an export that begins so, however little of it there is; null for what is no export. */
export function formatOf(beginning: string): ExportFormat | null {
  const is = (format: ExportFormat) => {
    const length = Math.min(beginning.length, beginnings[format].length);
    return beginning.slice(0, length) === beginnings[format].slice(0, length);
  };
  return is('jsonl') ? 'jsonl' : is('csv') ? 'csv' : null;
}

/** A head that comes although one came before is left out. */
export function recordSplitter(form: ExportFormat, headBefore = false): RecordSplitter {
  let kept: Uint8Array = new Uint8Array();
  let quoted = false;
  let records = 0;
  let lastId: string | null = null;
  let headCame = headBefore;
  return {
    push(bytes) {
      const all = kept.length === 0 ? bytes : Buffer.concat([kept, bytes]);
      let [start, end] = [0, 0];
      for (let at = kept.length; at < all.length; at++) {
        if (form === 'csv' && all[at] === quote) quoted = !quoted;
        if (all[at] !== newline || quoted) continue;
        const id = idAtStart.exec(textAt(all, end))?.[1];
        if (id !== undefined) {
          records++;
          lastId = id;
        } else if (form === 'csv') {
          if (headCame) start = at + 1;
          headCame = true;
        }
        end = at + 1;
      }
      kept = all.subarray(end);
      return all.subarray(start, end);
    },
    get records() {
      return records;
    },
    get lastId() {
      return lastId;
    },
    get headCame() {
      return headCame;
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
