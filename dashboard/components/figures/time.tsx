import { Tooltip } from '@mantine/core';
import { formatRelativeTime, formatTime } from '../../data/text/format.ts';
import { useCurrentMinute } from '../hooks/use-current-minute.ts';
import classes from './time.module.css';

/**
 * A timestamp in the viewer's time zone. A relative time updates every minute, includes the absolute time for screen
 * readers, and shows it on hover with the server's text.
 */
export function Time({
  at,
  relative = false,
}: {
  readonly at: string;
  readonly relative?: boolean;
}) {
  useCurrentMinute();
  const full = formatTime(at);
  return (
    <Tooltip
      label={relative ? `${full} · ${at}` : at}
      events={{ hover: true, focus: true, touch: true }}
    >
      <time dateTime={at} className={classes.time} data-relative={relative || undefined}>
        {relative ? formatRelativeTime(at) : full}
        {relative && <span className="visually-hidden">, {full}</span>}
      </time>
    </Tooltip>
  );
}
