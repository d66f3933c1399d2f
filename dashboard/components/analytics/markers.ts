import { useQuery } from '@tanstack/react-query';
import { allPinsQuery, pinsQuery } from '../../data/agents/pins.ts';

/** A version that was pinned in the range of a chart. */
export interface Marker {
  readonly key: string;
  readonly atMs: number;
  readonly text: string;
  readonly agentId: string;
}

export interface Markers {
  readonly shown: readonly Marker[];
  /** All in the range, which may be more than the newest hundred that are shown. */
  readonly total: number;
}

/** The pins of one agent or of all, newest first. */
export function useMarkers(
  agentId: string | undefined,
  span: { readonly startMs: number; readonly endMs: number | null },
): Markers {
  const ofOne = useQuery({ ...pinsQuery(agentId ?? ''), enabled: agentId !== undefined });
  const ofAll = useQuery({
    ...allPinsQuery({
      startDate: new Date(span.startMs).toISOString(),
      ...(span.endMs !== null && { endDate: new Date(span.endMs).toISOString() }),
    }),
    enabled: agentId === undefined,
  });
  if (agentId === undefined) {
    const shown = (ofAll.data?.pins ?? []).map((pin) => ({
      ...{ key: pin.pinId, atMs: Date.parse(pin.pinnedAt), agentId: pin.agentId },
      text: `${pin.agentName}: ${pin.promptVersionLabel} pinned`,
    }));
    return { shown, total: ofAll.data?.pagination.total ?? 0 };
  }
  const { startMs, endMs } = span;
  const shown = (ofOne.data?.pins ?? [])
    .map((pin) => ({
      ...{ key: pin.pinId, atMs: Date.parse(pin.pinnedAt), agentId },
      text: `${pin.promptVersionLabel} pinned`,
    }))
    .filter(({ atMs }) => startMs <= atMs && atMs <= (endMs ?? Number.POSITIVE_INFINITY));
  return { shown, total: shown.length };
}
