import { createClient } from '../../../src/client/index.ts';
import * as json from '../text/exact-json.ts';

// Read when this file is, so it comes first.
const workspaceKey = 'cueline-workspace';

/** Of this page, whatever another window chooses meanwhile. */
export const workspaceOfPage = chosenWorkspace();

/** The one way to the server: the public API, with the session's cookie, from the page's own origin. */
export const cueline = createClient({
  baseURL: '',
  json,
  ...(workspaceOfPage !== null && { workspace: workspaceOfPage }),
});

/** Of someone in several workspaces, the one they last chose; null for the one the server takes. */
function chosenWorkspace(): string | null {
  return localStorage.getItem(workspaceKey);
}

/** Everything on the page belongs to one workspace, so another one is another page. */
export function chooseWorkspace(workspaceId: string | null): void {
  if (workspaceId === null) localStorage.removeItem(workspaceKey);
  else localStorage.setItem(workspaceKey, workspaceId);
}
