import { CallFailure } from '../../core/failure.ts';

/** The streamed answers of a kind that are under way in this process: each holds memory for as long as it is taken. */
export interface StreamPlaces {
  /** Throws where there are enough. */
  take(workspaceId: string): StreamPlace;
}

export interface StreamPlace {
  readonly workspaceId: string;
  /** What is streamed. */
  readonly kind: StreamKind;
  /** Aborted, with what is to be said of it, where another workspace is given the place. */
  readonly signal: AbortSignal;
  giveBack(): void;
}

export type StreamKind = 'export' | 'page';

/**
 * While all places are taken, a workspace that has none is given that of the oldest stream of a workspace with several:
 * a few that take slowly would keep all others out for as long as a stream may last. Nobody's last one is broken off,
 * so a workspace can take from another only what that one has beyond it.
 */
export function createStreamPlaces(
  kind: StreamKind,
  { max, ofWorkspaceMax }: { readonly max: number; readonly ofWorkspaceMax: number },
): StreamPlaces {
  const taken = new Map<StreamPlace, AbortController>();
  const countOf = (workspaceId: string) =>
    [...taken.keys()].filter((one) => one.workspaceId === workspaceId).length;

  /** Makes room where there is none, if it may be made for a workspace with so many. */
  function hasRoom(own: number): boolean {
    if (own >= ofWorkspaceMax) return false;
    if (taken.size < max) return true;
    const oldest = [...taken].find(([{ workspaceId }]) => countOf(workspaceId) > 1);
    if (own > 0 || !oldest) return false;
    const [place, controller] = oldest;
    place.giveBack();
    controller.abort(enough(`This ${kind} was broken off for a workspace that had none.`));
    return true;
  }

  return {
    take(workspaceId) {
      if (!hasRoom(countOf(workspaceId))) throw enough(words[kind]);
      const controller = new AbortController();
      const { signal } = controller;
      const place = { workspaceId, kind, signal, giveBack: () => void taken.delete(place) };
      taken.set(place, controller);
      return place;
    },
  };
}

const words: Readonly<Record<StreamKind, string>> = {
  export: 'Enough exports are under way already.',
  page: 'Enough pages of long records are under way already. Ask for fewer at once, or without their bodies.',
};

function enough(message: string): CallFailure {
  return new CallFailure('UNAVAILABLE', message, { retryAfter: 10 });
}
