import { Tooltip } from '@mantine/core';
import { formatRelativeTime, formatShortTime, formatTime } from '../../data/text/format.ts';
import { useCurrentMinute } from '../hooks/use-current-minute.ts';
import classes from './time.module.css';

const dayMs = 86_400_000;

/**
 * A timestamp in the viewer's time zone. A relative time updates every minute, includes the absolute time for screen
 * readers, and shows it on hover with the server's text.
 */
export function Time({
  at,
  relative: wanted = false,
}: {
  readonly at: string;
  /** `day`: only for the last 24 hours, so that older times have the time of day. */
  readonly relative?: boolean | 'day';
}) {
  useCurrentMinute();
  const full = formatTime(at);
  const short = wanted === 'day';
  const relative = short ? Date.now() - Date.parse(at) < dayMs : wanted;
  return (
    <Tooltip
      label={relative || short ? `${full} · ${at}` : at}
      events={{ hover: true, focus: true, touch: true }}
    >
      <time dateTime={at} className={classes.time} data-relative={relative || undefined}>
        {relative ? formatRelativeTime(at) : short ? formatShortTime(at) : full}
        {(relative || short) && <span className="visually-hidden">, {full}</span>}
      </time>
    </Tooltip>
  );
}
