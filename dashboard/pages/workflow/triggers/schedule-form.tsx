import { Autocomplete } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Labels, Schedule } from '../../../../src/client/index.ts';
import { CostField } from '../../../components/fields/cost-field.tsx';
import { LabelFields, useLabels, withNulls } from '../../../components/fields/label-fields.tsx';
import { useCurrentMinute } from '../../../components/hooks/use-current-minute.ts';
import { fieldError } from '../../../components/states/form-error.tsx';
import { stringify } from '../../../data/text/exact-json.ts';
import { viewerZone } from '../../../data/text/format.ts';
import { parseJsonObject } from '../../../data/text/json-object.ts';
import { isTimeZone, nextTimes } from '../../../data/workflows/next-times.ts';
import { type Repeat, readRepeat, writeRepeat } from '../../../data/workflows/repeat.ts';
import { schedules } from '../../../data/workflows/triggers.ts';
import { workflowQuery } from '../../../data/workflows/workflows.ts';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { NextTimes } from './next-times.tsx';
import { RepeatFields } from './repeat-fields.tsx';
import classes from './triggers.module.css';

/** Creates or edits a schedule. */
export default function ScheduleForm(props: {
  readonly workflowId: string;
  /** Null creates a schedule. */
  readonly schedule: Schedule | null;
}) {
  const { workflowId, schedule } = props;
  const { input: inputs } = useSuspenseQuery(workflowQuery(workflowId)).data.definition;
  const whom = useLabels(schedule ?? {});
  const form = {
    width: 'medium',
    start: {
      repeat: readRepeat(schedule?.cron ?? '0 2 * * *'),
      timeZone: schedule?.timeZone ?? viewerZone,
      missed: schedule?.missed ?? 'skip',
      // `null` is no value: what is required must be filled in.
      input: stringify(
        schedule?.input ?? Object.fromEntries(inputs.required.map((name) => [name, null])),
        2,
      ),
      maxCostUSD: schedule?.maxCostUSD ?? null,
    },
    fields: ({ values, change, error }) => [
      <Times
        key="times"
        {...{ values, change, error }}
        cron={writtenAs(values.repeat, schedule)}
      />,
      {
        name: 'missed',
        label: 'Missed times',
        description: 'Times missed by more than a minute, for example while the server was down',
        options: [
          { value: 'skip', label: 'Skip' },
          { value: 'once', label: 'Start one workflow run for all' },
        ],
      },
      { name: 'input', label: 'Input', as: 'json', description: describeInput(inputs.required) },
      <LabelFields key="labels" {...whom} />,
      <CostField
        key="cost"
        label="Max cost per run (USD)"
        value={values.maxCostUSD}
        onChange={(maxCostUSD) => change({ maxCostUSD })}
        error={fieldError(error, 'maxCostUSD')}
      />,
    ],
    incomplete: ({ repeat, timeZone, input }) =>
      !parseJsonObject(input) ||
      !whom.labels ||
      previewOf(writtenAs(repeat, schedule), timeZone, Date.now()).times.length === 0,
  } satisfies Partial<Parameters<typeof FormDialog<Values, unknown, unknown>>[0]>;
  const valuesOf = ({ repeat, timeZone, missed, input, maxCostUSD }: Values) => ({
    ...{ cron: writtenAs(repeat, schedule), timeZone, missed, input: parseJsonObject(input) ?? {} },
    maxCostUSD,
  });
  if (schedule)
    return (
      <FormDialog
        {...form}
        title="Edit schedule"
        submit="Save schedule"
        action={schedules.update(workflowId, schedule.scheduleId)}
        input={(values) => ({ ...valuesOf(values), ...withNulls(whom.labels ?? {}) })}
      />
    );
  return (
    <FormDialog
      {...form}
      title="New schedule"
      submit="Create schedule"
      action={schedules.create(workflowId)}
      input={(values) => withoutNulls(valuesOf(values), whom.labels ?? {})}
    />
  );
}

/** What is not set is no part of a new schedule. */
function withoutNulls<Fields extends Pick<Values, 'maxCostUSD'>>(
  { maxCostUSD, ...fields }: Fields,
  { tags, ...labels }: Labels,
) {
  const limit = maxCostUSD !== null && { maxCostUSD };
  return { ...fields, ...limit, ...labels, ...(tags && { tags: [...tags] }) };
}

interface Values {
  readonly repeat: Repeat;
  readonly timeZone: string;
  readonly missed: Schedule['missed'];
  readonly input: string;
  readonly maxCostUSD: number | null;
}

/** When the schedule starts workflow runs, with its next times before it is saved. */
function Times(props: {
  readonly values: Values;
  readonly cron: string;
  readonly change: (some: Partial<Values>) => void;
  readonly error: unknown;
}) {
  const { values, cron, change, error } = props;
  const { timeZone } = values;
  const minute = useCurrentMinute();
  const preview = useMemo(
    () => previewOf(cron, timeZone, minute * 60_000),
    [cron, timeZone, minute],
  );
  return (
    <>
      <RepeatFields
        repeat={values.repeat}
        error={fieldError(error, 'cron') ?? preview.cronProblem}
        onChange={(repeat) => change({ repeat })}
      />
      <Autocomplete
        label="Time zone"
        data={zones}
        limit={20}
        required
        withAsterisk={false}
        value={timeZone}
        error={fieldError(error, 'timeZone') ?? preview.zoneProblem}
        onChange={(timeZone) => change({ timeZone })}
      />
      <div className={classes.preview}>
        {preview.times.length > 0 ? (
          <NextTimes nextTimes={preview.times} timeZone={timeZone} />
        ) : (
          <p className="note">The next times appear once the schedule is valid.</p>
        )}
      </div>
    </>
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
function previewOf(cron: string, timeZone: string, nowMs: number) {
  if (!isTimeZone(timeZone)) return { times: [], zoneProblem: 'No such time zone.' };
  const times = nextTimes({ cron, timeZone }, nowMs, timesShown);
  if (times === null) return { times: [], cronProblem: 'Not an expression of five fields.' };
  if (times.length === 0) return { times, cronProblem: 'Never matches a time in the future.' };
  return { times };
}

function describeInput(required: readonly string[]): string {
  const names = required.length > 0 ? ` Required: ${required.join(', ')}.` : '';
  return `A JSON object, the input of each workflow run.${names}`;
}
