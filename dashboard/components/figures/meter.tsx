import classes from './meter.module.css';

/** A usage bar, red when full unless it shows `progress`. `label` is its accessible name. */
export function Meter(props: {
  readonly used: number;
  readonly max: number;
  readonly label: string;
  readonly progress?: true;
}) {
  const share = props.max === 0 ? 1 : Math.min(1, props.used / props.max);
  return (
    <svg className={classes.meter} role="img" aria-label={props.label}>
      <rect data-part="all" width="100%" height="100%" rx="3" />
      {share > 0 && (
        <rect
          data-part="used"
          data-full={(share >= 1 && !props.progress) || undefined}
          width={`${Math.max(2, share * 100)}%`}
          height="100%"
          rx="3"
        />
      )}
    </svg>
  );
}
