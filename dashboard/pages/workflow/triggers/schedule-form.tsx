import { Autocomplete, NativeSelect, Stack, Textarea } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { type FormEvent, useMemo, useState } from 'react';
import type { Schedule } from '../../../../src/client/index.ts';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { LabelFields, useLabels, withNulls } from '../../../components/fields/label-fields.tsx';
import { useCurrentMinute } from '../../../components/hooks/use-current-minute.ts';
import { FormError, fieldError } from '../../../components/states/form-error.tsx';
import { stringify } from '../../../data/text/exact-json.ts';
import { viewerZone } from '../../../data/text/format.ts';
import { parseJsonObject } from '../../../data/text/json-object.ts';
import { isTimeZone, nextTimes } from '../../../data/workflows/next-times.ts';
import { type Repeat, readRepeat, writeRepeat } from '../../../data/workflows/repeat.ts';
import { useChangeSchedule, useCreateSchedule } from '../../../data/workflows/triggers.ts';
import { workflowQuery } from '../../../data/workflows/workflows.ts';
import { NextTimes } from './next-times.tsx';
import { RepeatFields } from './repeat-fields.tsx';
import classes from './triggers.module.css';

/** Creates or edits a schedule. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one form: its fields and their state read best together
export default function ScheduleForm(props: {
  readonly workflowId: string;
  /** Null creates a schedule. */
  readonly schedule: Schedule | null;
  readonly onClose: () => void;
}) {
  const { workflowId, schedule, onClose } = props;
  const [repeat, setRepeat] = useState(() => readRepeat(schedule?.cron ?? '0 2 * * *'));
  const cron = writtenAs(repeat, schedule);
  const { input: inputs } = useSuspenseQuery(workflowQuery(workflowId)).data.definition;
  const [timeZone, setTimeZone] = useState(schedule?.timeZone ?? viewerZone);
  const [missed, setMissed] = useState<Schedule['missed']>(schedule?.missed ?? 'skip');
  const [input, setInput] = useState(stringify(schedule?.input ?? {}, 2));
  const create = useCreateSchedule(workflowId);
  const change = useChangeSchedule(workflowId, schedule?.scheduleId ?? '');
  const { error, isPending } = schedule ? change : create;
  const given = parseJsonObject(input);
  const whom = useLabels(schedule ?? {});
  const preview = usePreview(cron, timeZone);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!given || !whom.labels) return;
    const values = { cron, timeZone, missed, input: given };
    if (schedule) change.mutate({ ...values, ...withNulls(whom.labels) }, { onSuccess: onClose });
    else {
      const { tags, ...labels } = whom.labels;
      const body = { ...values, ...labels, ...(tags && { tags: [...tags] }) };
      create.mutate(body, { onSuccess: onClose });
    }
  };
  return (
    <Dialog
      size="lg"
      locked={isPending}
      onClose={onClose}
      title={schedule ? 'Edit schedule' : 'New schedule'}
    >
      <form onSubmit={submit}>
        <Stack gap="md">
          <RepeatFields
            repeat={repeat}
            error={fieldError(error, 'cron') ?? preview.cronProblem}
            onChange={setRepeat}
          />
          <Autocomplete
            label="Time zone"
            data={zones}
            limit={20}
            required
            withAsterisk={false}
            value={timeZone}
            error={fieldError(error, 'timeZone') ?? preview.zoneProblem}
            onChange={setTimeZone}
          />
          <div className={classes.preview}>
            {preview.times.length > 0 ? (
              <NextTimes nextTimes={preview.times} timeZone={timeZone} />
            ) : (
              <p className={classes.muted}>The next times appear once the schedule is valid.</p>
            )}
          </div>
          <NativeSelect
            label="Missed times"
            description="Times missed by more than a minute, for example while the server was down"
            data={[
              { value: 'skip', label: 'Skip' },
              { value: 'once', label: 'Start one workflow run for all' },
            ]}
            value={missed}
            onChange={({ currentTarget }) => setMissed(currentTarget.value as Schedule['missed'])}
          />
          <Textarea
            label="Input"
            description={describeInput(inputs.required)}
            autosize
            minRows={3}
            maxRows={14}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mono)', fontSize: '0.75rem' } }}
            value={input}
            error={given ? fieldError(error, 'input') : 'Not a JSON object.'}
            onChange={({ currentTarget }) => setInput(currentTarget.value)}
          />
          <LabelFields {...whom} />
          <FormError error={error} />
          <DialogActions
            submit={schedule ? 'Save schedule' : 'Create schedule'}
            pending={isPending}
            disabled={!given || !whom.labels || preview.times.length === 0}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/** The expression of an unchanged repetition stays as it was written, for example `@daily`. */
function writtenAs(repeat: Repeat, schedule: Schedule | null): string {
  const cron = writeRepeat(repeat);
  return schedule && cron === writeRepeat(readRepeat(schedule.cron)) ? schedule.cron : cron;
}

const timesShown = 5;

/** The next times before saving, or what is wrong. */
function usePreview(cron: string, timeZone: string) {
  const minute = useCurrentMinute();
  return useMemo(() => {
    if (!isTimeZone(timeZone)) return { times: [], zoneProblem: 'No such time zone.' };
    const times = nextTimes({ cron, timeZone }, minute * 60_000, timesShown);
    if (times === null) return { times: [], cronProblem: 'Not an expression of five fields.' };
    if (times.length === 0) return { times, cronProblem: 'Never matches a time in the future.' };
    return { times };
  }, [cron, timeZone, minute]);
}

function describeInput(required: readonly string[]): string {
  const names = required.length > 0 ? ` Required: ${required.join(', ')}.` : '';
  return `A JSON object, the input of each workflow run.${names}`;
}
