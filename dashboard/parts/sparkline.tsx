import classes from './sparkline.module.css';

interface Bar {
  readonly key: string;
  readonly good: number;
  readonly bad: number;
}

const [width, height, gap] = [96, 24, 1];

/** Bars in the height of a line of text: how much there was, and how much of it failed. `label` says it in words. */
export function Sparkline({
  bars,
  label,
}: {
  readonly bars: readonly Bar[];
  readonly label: string;
}) {
  const most = Math.max(1, ...bars.map(({ good, bad }) => good + bad));
  const step = width / Math.max(1, bars.length);
  // What happened at all is seen, however little it was beside the rest.
  const high = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * height));
  return (
    <svg className={classes.chart} width={width} height={height} role="img" aria-label={label}>
      {bars.map(({ key, good, bad }, place) => {
        const [all, failed] = [high(good + bad), high(bad)];
        const at = { x: place * step, width: Math.max(1, step - gap), rx: 0.5 };
        return (
          <g key={key}>
            {all === 0 && <rect {...at} y={height - 1} height={1} className={classes.none} />}
            {good > 0 && <rect {...at} y={height - all} height={all} className={classes.good} />}
            {bad > 0 && (
              <rect {...at} y={height - failed} height={failed} className={classes.bad} />
            )}
          </g>
        );
      })}
    </svg>
  );
}
