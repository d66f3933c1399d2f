import { Tooltip } from '@mantine/core';
import { formatSince, formatTime } from '../data/text/format.ts';
import { useMinute } from './hooks/use-current-minute.ts';
import classes from './time.module.css';

/**
 * A timestamp in the viewer's time zone. A relative time updates every minute, includes the absolute time for screen
 * readers, and shows it on hover with the server's text.
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
