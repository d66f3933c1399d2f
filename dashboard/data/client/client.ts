import { createClient } from '../../../src/client/index.ts';
import * as json from '../text/exact-json.ts';
import { basePath } from './base-path.ts';

// Declared first because `currentWorkspaceId` below reads it when the module loads.
const workspaceKey = 'cueline-workspace';

/** Fixed when the page loads: another window may switch its workspace meanwhile. */
export const currentWorkspaceId = storedWorkspaceId();

/** The only connection to the server: the public API with the session cookie, same origin. */
export const cueline = createClient({
  baseURL: basePath,
  json,
  ...(currentWorkspaceId !== null && { workspace: currentWorkspaceId }),
});

/** The workspace the user last chose; null lets the server decide. */
function storedWorkspaceId(): string | null {
  return localStorage.getItem(workspaceKey);
}

/** Callers reload the page afterwards, because everything on it belongs to one workspace. */
export function chooseWorkspace(workspaceId: string | null): void {
  if (workspaceId === null) localStorage.removeItem(workspaceKey);
  else localStorage.setItem(workspaceKey, workspaceId);
}
