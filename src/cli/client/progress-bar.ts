/** How far it has come, on standard error and only where that is a terminal. */
export interface Progress {
  readonly onPlan: (rows: number) => void;
  readonly onRows: (count: number) => void;
  /** What is being done now, where no rows are counted. */
  readonly say: (what: string) => void;
  readonly end: () => void;
}

export function showProgress(): Progress {
  const { stderr } = process;
  if (!stderr.isTTY) return { onPlan() {}, onRows() {}, say() {}, end() {} };
  const begun = performance.now();
  let [total, done] = [1, 0];
  let said = '';
  const draw = () => {
    const share = Math.min(1, done / total);
    const seconds = (performance.now() - begun) / 1_000;
    const bar = '#'.repeat(Math.floor(share * barLength)).padEnd(barLength, '.');
    const left = done === 0 ? '' : `, ${duration((seconds / done) * (total - done))} left`;
    const rate = `${whole(done / seconds)}/s${left}`;
    const text = said || `[${bar}] ${Math.floor(share * 100)} %  ${whole(done)} rows, ${rate}`;
    stderr.write(`\r${eraseLine}${text.slice(0, (stderr.columns || 80) - 1)}`);
  };
  const timer = setInterval(draw, drawMs);
  return {
    onPlan: (rows) => {
      total = rows;
    },
    onRows: (count) => {
      done += count;
    },
    say: (what) => {
      said = what;
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
const eraseLine = '\x1b[K';

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function duration(seconds: number): string {
  const left = Math.ceil(seconds);
  return left < 60 ? `${left} s` : `${Math.floor(left / 60)} min ${left % 60} s`;
}
