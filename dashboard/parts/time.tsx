import { Tooltip } from '@mantine/core';
import { formatSince, formatTime } from '../data/format.ts';

/** A time as it is for the viewer, in their zone; the server's own text shows on hover and on focus. */
export function Time({ at, since = false }: { readonly at: string; readonly since?: boolean }) {
  const full = formatTime(at);
  return (
    <Tooltip
      label={since ? `${full} · ${at}` : at}
      events={{ hover: true, focus: true, touch: true }}
    >
      <time dateTime={at}>{since ? formatSince(at) : full}</time>
    </Tooltip>
  );
}
