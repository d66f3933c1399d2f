import classes from './sparkline.module.css';

interface Bar {
  readonly key: string;
  /** From bottom to top. */
  readonly parts: readonly { readonly count: number; readonly color: string }[];
}

const [width, height, gap] = [96, 24, 1];

/** A small stacked bar chart. `label` is its accessible name. */
export function Sparkline({
  bars,
  label,
}: {
  readonly bars: readonly Bar[];
  readonly label: string;
}) {
  const total = ({ parts }: Bar) => parts.reduce((acc, { count }) => acc + count, 0);
  const most = Math.max(1, ...bars.map(total));
  const step = width / Math.max(1, bars.length);
  return (
    <svg className={classes.chart} width={width} height={height} role="img" aria-label={label}>
      {bars.map((bar, index) => {
        const at = { x: index * step, width: Math.max(1, step - gap), rx: 0.5 };
        return (
          <g key={bar.key}>
            {total(bar) === 0 && (
              <rect {...at} y={height - 1} height={1} className={classes.muted} />
            )}
            {/* Each part is drawn down to the baseline; lower parts cover the ones above. */}
            {tops(bar, most)
              .toReversed()
              .map(({ color, top }) => (
                <rect key={color} {...at} y={height - top} height={top} fill={color} />
              ))}
          </g>
        );
      })}
    </svg>
  );
}

/** The top of each part. Every nonzero part is at least 2 px high. */
function tops({ parts }: Bar, most: number) {
  let [sum, top] = [0, 0];
  return parts
    .filter(({ count }) => count > 0)
    .map(({ count, color }) => {
      sum += count;
      top = Math.min(height, Math.max(top + 2, (sum / most) * height));
      return { color, top };
    });
}
