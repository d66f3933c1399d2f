import { oneLine } from './print.ts';

/**
 * Shows a spinner on standard error while `work` runs. Prints nothing unless it is a terminal.
 * Rejected: the spinner of @clack/prompts. It sets the terminal to raw mode, in which Ctrl-C exits
 * with code 0.
 */
export async function withProgress<T>(text: string, work: Promise<T>): Promise<T> {
  const { stderr } = process;
  if (!stderr.isTTY) return work;
  let frame = 0;
  const draw = () => stderr.write(`\r${frames[frame++ % frames.length]} ${oneLine(text)}`);
  draw();
  const timer = setInterval(draw, frameMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    stderr.write(`\r${eraseLine}`);
  }
}

const frames = ['|', '/', '-', '\\'];
const frameMs = 120;
const eraseLine = '\x1b[K';

/** Progress of a long operation, on standard error. Prints nothing unless it is a terminal. */
export interface Progress {
  readonly setTotal: (rows: number) => void;
  readonly addRows: (count: number) => void;
  /** Shows a phase without a row count. */
  readonly setPhase: (name: string) => void;
  readonly end: () => void;
}

export function showProgress(): Progress {
  const { stderr } = process;
  if (!stderr.isTTY) return { setTotal() {}, addRows() {}, setPhase() {}, end() {} };
  const startedMs = performance.now();
  let [total, done] = [1, 0];
  let phase = '';
  const draw = () => {
    const share = Math.min(1, done / total);
    const seconds = (performance.now() - startedMs) / 1_000;
    const bar = '#'.repeat(Math.floor(share * barLength)).padEnd(barLength, '.');
    const remaining =
      done === 0 ? '' : `, ${formatDuration((seconds / done) * (total - done))} left`;
    const rate = `${formatCount(done / seconds)}/s${remaining}`;
    const text =
      phase || `[${bar}] ${Math.floor(share * 100)} %  ${formatCount(done)} rows, ${rate}`;
    stderr.write(`\r${eraseLine}${text.slice(0, (stderr.columns || 80) - 1)}`);
  };
  const timer = setInterval(draw, drawMs);
  return {
    setTotal: (rows) => {
      total = rows;
    },
    addRows: (count) => {
      done += count;
    },
    setPhase: (name) => {
      phase = name;
      draw();
    },
    end() {
      clearInterval(timer);
      stderr.write(`\r${eraseLine}`);
    },
  };
}

const barLength = 24;
const drawMs = 200;

function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function formatDuration(seconds: number): string {
  const left = Math.ceil(seconds);
  return left < 60 ? `${left} s` : `${Math.floor(left / 60)} min ${left % 60} s`;
}
