import { exportsMax, exportsOfWorkspaceMax } from '../contract/limits.ts';
import { CallFailure } from '../core/failure.ts';

/** The exports under way in this process. */
export interface ExportPlaces {
  /** Throws where there are enough. */
  take(workspaceId: string): ExportPlace;
}

export interface ExportPlace {
  readonly workspaceId: string;
  /** Aborted, with what is to be said of it, where another workspace is given the place. */
  readonly signal: AbortSignal;
  giveBack(): void;
}

/**
 * While all places are taken, a workspace that has none is given that of the oldest export of a workspace with several:
 * two that take slowly would keep all others out for as long as an export may last. Nobody's last export is broken off,
 * so a workspace can take from another only what that one has beyond it.
 */
export function createExportPlaces(): ExportPlaces {
  const taken = new Map<ExportPlace, AbortController>();
  const countOf = (workspaceId: string) =>
    [...taken.keys()].filter((one) => one.workspaceId === workspaceId).length;

  /** Makes room where there is none, if it may be made for a workspace with so many. */
  function hasRoom(own: number): boolean {
    if (own >= exportsOfWorkspaceMax) return false;
    if (taken.size < exportsMax) return true;
    const oldest = [...taken].find(([{ workspaceId }]) => countOf(workspaceId) > 1);
    if (own > 0 || !oldest) return false;
    const [place, controller] = oldest;
    place.giveBack();
    controller.abort(enough('This export was broken off for a workspace that had none.'));
    return true;
  }

  return {
    take(workspaceId) {
      if (!hasRoom(countOf(workspaceId))) throw enough('Enough exports are under way already.');
      const controller = new AbortController();
      const { signal } = controller;
      const place = { workspaceId, signal, giveBack: () => void taken.delete(place) };
      taken.set(place, controller);
      return place;
    },
  };
}

function enough(message: string): CallFailure {
  return new CallFailure('UNAVAILABLE', message, { retryAfter: 10 });
}
