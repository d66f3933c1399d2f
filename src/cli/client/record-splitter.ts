/**
 * Finds the ends of records in an export stream: a JSON line, or a CSV record with possible line
 * breaks in quotes. Bytes after the last end are buffered, so that only complete records are passed
 * on.
 */
export type ExportFormat = 'jsonl' | 'csv';

export interface RecordSplitter {
  /** Returns the complete records of the buffered and the new bytes. May be empty. */
  push(bytes: Uint8Array): Uint8Array;
  /** Number of complete records so far, without the CSV header. */
  readonly records: number;
  /** `executionId` of the last complete record. */
  readonly lastId: string | null;
  /** Whether the CSV header was received, here or before a resume. */
  readonly hasHeader: boolean;
}

const [newline, quote] = [0x0a, 0x22];
/** Matches the start of a record in both formats. */
const idAtStart = /^(?:\{"executionId":)?"(exe_[0-9a-z]{26})/;
const idBytesMax = 64;
const prefixes = { jsonl: '{"executionId":"', csv: 'executionId,' } as const;

/** Format of an export with this beginning, of any length. `null` if it is not an export. */
export function formatOf(start: string): ExportFormat | null {
  const is = (format: ExportFormat) => {
    const length = Math.min(start.length, prefixes[format].length);
    return start.slice(0, length) === prefixes[format].slice(0, length);
  };
  return is('jsonl') ? 'jsonl' : is('csv') ? 'csv' : null;
}

/** Drops a repeated CSV header. */
export function recordSplitter(format: ExportFormat, headerReceived = false): RecordSplitter {
  let pending: Uint8Array = new Uint8Array();
  let quoted = false;
  let records = 0;
  let lastId: string | null = null;
  let hasHeader = headerReceived;
  return {
    push(bytes) {
      const all = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      let [start, end] = [0, 0];
      for (let at = pending.length; at < all.length; at++) {
        if (format === 'csv' && all[at] === quote) quoted = !quoted;
        if (all[at] !== newline || quoted) continue;
        const id = idAtStart.exec(textAt(all, end))?.[1];
        if (id !== undefined) {
          records++;
          lastId = id;
        } else if (format === 'csv') {
          if (hasHeader) start = at + 1;
          hasHeader = true;
        }
        end = at + 1;
      }
      pending = all.subarray(end);
      return all.subarray(start, end);
    },
    get records() {
      return records;
    },
    get lastId() {
      return lastId;
    },
    get hasHeader() {
      return hasHeader;
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
