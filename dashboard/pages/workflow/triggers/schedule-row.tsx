import { Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { Schedule } from '../../../../src/client/index.ts';
import { labelsIn } from '../../../components/fields/label-fields.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { EnabledBadge } from '../../../components/states/state-badge.tsx';
import { stringify } from '../../../data/text/exact-json.ts';
import { describeRepeat, readRepeat } from '../../../data/workflows/repeat.ts';
import { schedules } from '../../../data/workflows/triggers.ts';
import { startAgain } from '../../../data/workflows/workflow-runs.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { ConfirmButton, SmallButton } from '../../../kit/confirm-dialog.tsx';
import { useAction } from '../../../kit/resource.ts';
import { NextTimes } from './next-times.tsx';

/** One schedule, with its next times in its own and in the viewer's time zone. */
export function ScheduleRow(props: { readonly schedule: Schedule; readonly onEdit: () => void }) {
  const { schedule, onEdit } = props;
  const { workflowId, scheduleId, cron, timeZone, missed, enabled, nextTimes } = schedule;
  const { lastAt, lastError } = schedule;
  const canEdit = can(useMe(), 'edit');
  const change = useAction(schedules.update(workflowId, scheduleId));
  const navigate = useNavigate();
  const start = useAction(startAgain(schedule));
  const runNow = () =>
    start.mutate(
      { values: schedule.input, labels: labelsIn(schedule) },
      {
        onSuccess: ({ workflowRunId }) =>
          void navigate({
            to: '/workflows/$workflowId/runs/$workflowRunId',
            params: { workflowId, workflowRunId },
          }),
      },
    );
  const input = stringify(schedule.input);
  const repeat = readRepeat(cron);
  const name = describeRepeat(repeat);
  return (
    <li>
      <div className="row">
        {repeat.kind === 'cron' ? (
          <code className="section-title">{cron}</code>
        ) : (
          <span className="section-title">{name}</span>
        )}
        <span className="note">
          {timeZone}
          {repeat.kind !== 'cron' && (
            <>
              {' · '}
              <code>{cron}</code>
            </>
          )}
        </span>
        <EnabledBadge enabled={enabled} />
        {canEdit && (
          <Group gap="xs" ml="auto">
            <SmallButton label="Run now" of={name} loading={start.isPending} onClick={runNow} />
            <SmallButton
              label={enabled ? 'Disable' : 'Enable'}
              of={name}
              loading={change.isPending}
              onClick={() => change.mutate({ enabled: !enabled })}
            />
            <SmallButton label="Edit" of={name} onClick={onEdit} />
            <ConfirmButton
              label="Delete"
              of={name}
              title="Delete this schedule?"
              action={schedules.remove(workflowId, scheduleId)}
            >
              “{name}” will start no more workflow runs. This cannot be undone. To pause it, disable
              it instead.
            </ConfirmButton>
          </Group>
        )}
      </div>
      <p className="note">
        {missed === 'once' ? 'Missed times start one workflow run.' : 'Missed times are skipped.'}{' '}
        {lastAt ? (
          <>
            Last workflow run <Time at={lastAt} relative />.
          </>
        ) : (
          'No workflow run yet.'
        )}
        {input !== '{}' && (
          <>
            {' '}
            Input <code>{input}</code>
          </>
        )}
      </p>
      {lastError && (
        <p className="bad-note">
          Failed to start <Time at={lastError.at} relative />: {lastError.message}
        </p>
      )}
      <FormError error={change.error ?? start.error} />
      {nextTimes.length > 0 ? (
        <NextTimes nextTimes={nextTimes} timeZone={timeZone} />
      ) : (
        <p className="note">{enabled ? 'No upcoming times.' : 'Disabled.'}</p>
      )}
    </li>
  );
}
