import { toId } from '../core/id.ts';
import type { Mailer } from '../core/people/mail.ts';
import { deriveSealKey } from '../core/seal.ts';
import type { Db } from '../db/database.ts';
import { foldBudgets, maintainWindows } from '../engine/budgets/fold-budgets.ts';
import { startMaintenance } from '../engine/run/start-maintenance.ts';
import { startSweep } from '../engine/run/start-sweep.ts';
import { deleteEndedStreams } from '../engine/stream/stream-chunks.ts';
import { runAll } from '../engine/transaction/paced-transactions.ts';
import { freeLostEndpoints } from '../features/events/statements/deliveries.ts';
import { evaluateAlerts } from '../features/events/verbs/evaluate-alerts.ts';
import { maintainEndpoints } from '../features/events/verbs/maintain-endpoints.ts';
import { sealURLs } from '../features/events/verbs/seal-urls.ts';
import { indexRound } from '../features/history/verbs/index-round.ts';
import {
  foldLabelsRound,
  runRetentionIfDue,
  runRollupIfDue,
} from '../features/history/verbs/retention-round.ts';
import { sendMails } from '../features/people/verbs/send-mails.ts';
import { fireSchedules } from '../features/workflows/verbs/fire-schedules.ts';
import type { BackgroundFailures } from './background-failures.ts';
import { maintenanceJobs } from './background-jobs.ts';
import type { Engine } from './engine.ts';
import type { WiringDeps } from './wiring-deps.ts';

/** The periodic work of a worker process. */
export function startBackground(
  { config, db, logger, secret }: WiringDeps,
  { connections, notifications, workflows, batches }: Engine,
  failures: BackgroundFailures,
  mailer: Mailer | null,
) {
  const { singlePipelines, workDb, eventDb } = connections;
  const sweeps = [
    startSweep({ sweep: workflows.sweep, onError: failures.reporter('workflow sweep failed') }),
    startSweep({
      sweep: async () => batches?.poll(),
      onError: failures.reporter('batch sweep failed'),
    }),
    startSweep({
      sweep: workflows.endOverdueWorkflowRuns,
      onError: failures.reporter('workflow deadline sweep failed'),
    }),
    startSweep({
      sweep: () =>
        fireSchedules({
          db: workDb,
          starter: workflows.starter,
          onRefused: ({ id }, { code }) =>
            logger.warn({ scheduleId: toId('schedule', id), code }, 'schedule tick rejected'),
          onError: failures.reporter('schedule tick failed'),
        }),
      onError: failures.reporter('schedule poll failed'),
    }),
    startSweep({
      sweep: () => freeLostEndpoints(workDb),
      onError: failures.reporter('event sender sweep failed'),
    }),
    startSweep({
      sweep: () =>
        evaluateAlerts({
          db: eventDb,
          mailsFrom: mailer && config.publicUrl,
          onError: failures.reporter('alert evaluation failed'),
        }),
      onError: failures.reporter('alert sweep failed'),
    }),
    startSweep({
      sweep: () => foldBudgets({ db: workDb, pipelines: singlePipelines, notifications }),
      onError: failures.reporter('budget sweep failed'),
    }),
    ...(mailer ? [mailSweep(eventDb, mailer, failures)] : []),
  ];
  const sealKey = deriveSealKey(secret);
  const roundDeps = { db, pipelines: singlePipelines };
  const maintenance = startMaintenance({
    maintain: () => runAll(maintenanceJobs(db)),
    writeIndex: (signal) => indexRound({ db, signal, isOn: config.searchIndex }),
    rounds: {
      retention: (signal) => runRetentionIfDue({ ...roundDeps, signal }),
      rollup: (signal) => runRollupIfDue({ ...roundDeps, signal }),
      labels: (signal) => foldLabelsRound({ ...roundDeps, signal }),
      endpoints: () => maintainEndpoints(db),
      urls: () => sealURLs(db, sealKey),
      streams: () => deleteEndedStreams(db),
      budgets: () => maintainWindows(db),
    },
    onError: failures.reportOperation,
  });
  return {
    stopSweeps: () => Promise.all(sweeps.map((sweep) => sweep.stop())),
    stopMaintenance: () => maintenance.stop(),
  };
}

function mailSweep(db: Db, { send }: Mailer, failures: BackgroundFailures) {
  const onError = failures.reporter('mail failed');
  return startSweep({
    sweep: () => sendMails({ db, send, onError }),
    onError: failures.reporter('mail sweep failed'),
  });
}
