import classes from './swatch.module.css';

/** The colour of a series. */
export function Swatch({ color }: { readonly color: string }) {
  return (
    <svg width="10" height="10" aria-hidden="true" className={classes.swatch}>
      <rect width="10" height="10" rx="2.5" fill={color} />
    </svg>
  );
}
