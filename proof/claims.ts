import type { Claim } from './claim.ts';
import { access } from './claims/access.ts';
import { apiKilled } from './claims/api-killed.ts';
import { batchKilled } from './claims/batch-killed.ts';
import { behindPooler } from './claims/behind-pooler.ts';
import { budgetExact } from './claims/budget-exact.ts';
import { budgetKilled } from './claims/budget-killed.ts';
import { budgetSums } from './claims/budget-sums.ts';
import { canaries } from './claims/canaries.ts';
import { commitUnacknowledged } from './claims/commit-unacknowledged.ts';
import { crashWhileEnding } from './claims/crash-while-ending.ts';
import { databaseRestarted } from './claims/database-restarted.ts';
import { databaseUnavailable } from './claims/database-unavailable.ts';
import { events } from './claims/events.ts';
import { failover } from './claims/failover.ts';
import { fairBacklog } from './claims/fair-backlog.ts';
import { fairProvider } from './claims/fair-provider.ts';
import { guardLoad } from './claims/guard-load.ts';
import { idempotent } from './claims/idempotent.ts';
import { limitsExact } from './claims/limits-exact.ts';
import { malformed } from './claims/malformed.ts';
import { missedNotifications } from './claims/missed-notifications.ts';
import { oneAction } from './claims/one-action.ts';
import { outboundGuard } from './claims/outbound-guard.ts';
import { providerOutage } from './claims/provider-outage.ts';
import { quotaExact } from './claims/quota-exact.ts';
import { refusalRows } from './claims/refusal-rows.ts';
import { revoked } from './claims/revoked.ts';
import { rollingRestart } from './claims/rolling-restart.ts';
import { signInThrottle } from './claims/sign-in-throttle.ts';
import { simultaneousEnds } from './claims/simultaneous-ends.ts';
import { slowClients } from './claims/slow-clients.ts';
import { streams } from './claims/streams.ts';
import { toolOnce } from './claims/tool-once.ts';
import { turnsNotPaidTwice } from './claims/turns-not-paid-twice.ts';
import { unknownKeys } from './claims/unknown-keys.ts';
import { workerKilled } from './claims/worker-killed.ts';
import { workerLost } from './claims/worker-lost.ts';
import { workerPartitioned } from './claims/worker-partitioned.ts';
import { workerPaused } from './claims/worker-paused.ts';
import { workflowKilled } from './claims/workflow-killed.ts';

/** All claims, in the order in which they are checked. */
export const claims: readonly Claim[] = [
  workerKilled,
  apiKilled,
  workerPaused,
  workerLost,
  workflowKilled,
  batchKilled,
  toolOnce,
  turnsNotPaidTwice,
  streams,
  rollingRestart,
  providerOutage,
  fairBacklog,
  fairProvider,
  simultaneousEnds,
  access,
  outboundGuard,
  signInThrottle,
  slowClients,
  guardLoad,
  limitsExact,
  quotaExact,
  budgetExact,
  budgetKilled,
  budgetSums,
  unknownKeys,
  refusalRows,
  idempotent,
  revoked,
  oneAction,
  behindPooler,
  canaries,
  commitUnacknowledged,
  crashWhileEnding,
  events,
  databaseRestarted,
  databaseUnavailable,
  failover,
  missedNotifications,
  malformed,
  workerPartitioned,
];

/** Those that `npm test` checks after each change; `npm run test:slow` checks the others. */
export const guardingClaims: readonly Claim[] = [
  workerKilled,
  crashWhileEnding,
  limitsExact,
  idempotent,
  revoked,
  streams,
];
