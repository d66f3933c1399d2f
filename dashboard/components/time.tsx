import { Tooltip } from '@mantine/core';
import { formatSince, formatTime } from '../data/text/format.ts';
import { useMinute } from './hooks/use-current-minute.ts';
import classes from './time.module.css';

/**
 * A time as it is for the viewer, in their zone. How long ago it was follows the clock; when it was is read out with it,
 * and shows on hover together with the server's own text.
 */
export function Time({ at, since = false }: { readonly at: string; readonly since?: boolean }) {
  useMinute();
  const full = formatTime(at);
  return (
    <Tooltip
      label={since ? `${full} · ${at}` : at}
      events={{ hover: true, focus: true, touch: true }}
    >
      <time dateTime={at} className={classes.time} data-since={since || undefined}>
        {since ? formatSince(at) : full}
        {since && <span className="visually-hidden">, {full}</span>}
      </time>
    </Tooltip>
  );
}
