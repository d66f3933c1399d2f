import classes from './sparkline.module.css';

interface Bar {
  readonly key: string;
  /** From the bottom up. */
  readonly parts: readonly { readonly count: number; readonly color: string }[];
}

const [width, height, gap] = [96, 24, 1];

/** Bars in the height of a line of text: how much there was, and what became of it. `label` says it in words. */
export function Sparkline({
  bars,
  label,
}: {
  readonly bars: readonly Bar[];
  readonly label: string;
}) {
  const total = ({ parts }: Bar) => parts.reduce((so, { count }) => so + count, 0);
  const most = Math.max(1, ...bars.map(total));
  const step = width / Math.max(1, bars.length);
  return (
    <svg className={classes.chart} width={width} height={height} role="img" aria-label={label}>
      {bars.map((bar, place) => {
        const at = { x: place * step, width: Math.max(1, step - gap), rx: 0.5 };
        return (
          <g key={bar.key}>
            {total(bar) === 0 && (
              <rect {...at} y={height - 1} height={1} className={classes.none} />
            )}
            {/* Each reaches down to the ground, those below stand before it. */}
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

/** How high each part reaches. What happened at all is seen, however little it was beside the rest. */
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
