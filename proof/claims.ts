import type { Claim } from './claim.ts';
import { access } from './claims/access.ts';
import { apiKilled } from './claims/api-killed.ts';
import { behindPooler } from './claims/behind-pooler.ts';
import { canaries } from './claims/canaries.ts';
import { commitUnanswered } from './claims/commit-unanswered.ts';
import { databaseRefuses } from './claims/database-refuses.ts';
import { databaseRestarted } from './claims/database-restarted.ts';
import { deaf } from './claims/deaf.ts';
import { endsTogether } from './claims/ends-together.ts';
import { fairBacklog } from './claims/fair-backlog.ts';
import { fairProvider } from './claims/fair-provider.ts';
import { idempotent } from './claims/idempotent.ts';
import { limitsExact } from './claims/limits-exact.ts';
import { malformed } from './claims/malformed.ts';
import { oneAction } from './claims/one-action.ts';
import { outboundGuard } from './claims/outbound-guard.ts';
import { providerOutage } from './claims/provider-outage.ts';
import { quotaExact } from './claims/quota-exact.ts';
import { refusedRows } from './claims/refused-rows.ts';
import { revoked } from './claims/revoked.ts';
import { rollingRestart } from './claims/rolling-restart.ts';
import { signInThrottle } from './claims/sign-in-throttle.ts';
import { slowClients } from './claims/slow-clients.ts';
import { unknownKeys } from './claims/unknown-keys.ts';
import { workerCutOff } from './claims/worker-cut-off.ts';
import { workerKilled } from './claims/worker-killed.ts';
import { workerLost } from './claims/worker-lost.ts';
import { workerStopped } from './claims/worker-stopped.ts';
import { workflowKilled } from './claims/workflow-killed.ts';

/** All claims, in the order in which they are checked. */
export const claims: readonly Claim[] = [
  workerKilled,
  apiKilled,
  workerStopped,
  workerLost,
  workflowKilled,
  rollingRestart,
  providerOutage,
  fairBacklog,
  fairProvider,
  endsTogether,
  access,
  outboundGuard,
  signInThrottle,
  slowClients,
  limitsExact,
  quotaExact,
  unknownKeys,
  refusedRows,
  idempotent,
  revoked,
  oneAction,
  behindPooler,
  canaries,
  commitUnanswered,
  databaseRestarted,
  databaseRefuses,
  deaf,
  malformed,
  workerCutOff,
];
