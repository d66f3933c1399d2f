import type { ApiDeps } from '../../api-deps.ts';
import type { Sessions } from './session.ts';

export interface SessionDeps extends ApiDeps {
  readonly sessions: Sessions;
}
