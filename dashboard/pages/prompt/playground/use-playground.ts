import { useSessionStorage } from '@mantine/hooks';
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import type { Prompt, PromptVersion } from '../../../../src/client/index.ts';
import { useNavigateFrom } from '../../../components/hooks/use-navigate-from.ts';
import type { ModelSettings } from '../../../data/agents/model-settings.ts';
import { useStartExecution } from '../../../data/executions/start-execution.ts';
import { fileVariablesOf, fromField } from '../../../data/prompts/messages.ts';
import {
  playgroundValues,
  startPlaygroundRun,
  type TakenValues,
} from '../../../data/prompts/playground.ts';
import {
  columnsFrom,
  draftChoice,
  nextToCompare,
  type PlaygroundColumn,
  versionsOf,
  withChoice,
  withColumn,
  withDraft,
  withSettings,
} from '../../../data/prompts/playground-columns.ts';
import { playgroundValuesKey } from '../../../data/prompts/playground-values.ts';
import { useCreateVersion } from '../../../data/prompts/prompt-actions.ts';
import { versionQuery } from '../../../data/prompts/prompts.ts';
import { variablesOf } from '../../../data/prompts/templates.ts';
import { useMe } from '../../../data/workspace/me.ts';
import { type Draft, draftProblem, templatesOf, toVersionInput } from '../draft.ts';
import { type DraftState, useDraft } from '../use-draft.ts';

const route = getRouteApi('/app/prompts/$promptId/playground');

/** The state of the playground: the draft, the columns with their executions, and the values. */
export function usePlayground(prompt: Prompt, versionIds: readonly string[]) {
  const { promptId } = prompt;
  const [columns, setColumns] = useColumns(promptId);
  // Without a draft, the editor shows the newest version of the columns.
  const hasDraft = columns.some(({ choice }) => choice === draftChoice);
  const draft = useDraft(prompt, hasDraft ? undefined : columns.at(-1)?.choice);
  const create = useCreateVersion(promptId);
  const [values, setValues] = useSessionStorage<Record<string, string>>({
    key: playgroundValuesKey(promptId),
    defaultValue: {},
    getInitialValueInEffect: false,
  });
  const [maxCostUSD, setMaxCostUSD] = useState<number | null>(null);
  const executions = useExecutions(promptId, values, maxCostUSD);
  const baseId = draft.base?.promptVersionId ?? null;
  const shownOf = ({ choice }: PlaygroundColumn) =>
    choice === draftChoice && !draft.changed ? (baseId ?? draftChoice) : choice;
  const inputs = useInputs(promptId, columns.map(shownOf), draft.draft);
  const problem = draft.draft ? draftProblem(draft.draft) : null;
  const usesDraft = (wanted: readonly PlaygroundColumn[]) =>
    wanted.some((column) => shownOf(column) === draftChoice);

  const actions = columnActions({ setColumns, draft, executions, versionIds });

  // The agent that executes a draft pins a version of the prompt, so the first draft is saved.
  const pinnableId = baseId ?? versionIds[0] ?? null;
  const run = async (wanted: readonly PlaygroundColumn[]) => {
    const sent = draft.draft;
    let savedId: string | null = null;
    if (usesDraft(wanted)) {
      if (!sent || problem !== null) return;
      if (pinnableId === null) {
        const version = await create.mutateAsync(toVersionInput(sent)).catch(() => null);
        if (!version) return;
        savedId = version.promptVersionId;
        actions.saved(sent, version);
      }
    }
    for (const column of wanted) {
      const shown = shownOf(column);
      const isDraft = shown === draftChoice;
      const versionId = isDraft ? (savedId ?? pinnableId ?? '') : shown;
      executions[column.slot]?.execution.mutate({
        ...{ versionId, settings: column.settings },
        ...(isDraft && savedId === null && sent && { draft: sent }),
      });
    }
  };
  return {
    ...{ columns, draft, create, values, setValues, executions, shownOf, inputs, run, actions },
    ...{ maxCostUSD, setMaxCostUSD },
    /** Why the columns cannot run; null if they can. */
    problem: usesDraft(columns) ? problem : null,
    usesDraft: usesDraft(columns),
    /** Whether running saves the draft first. */
    savesDraft: usesDraft(columns) && pinnableId === null,
  };
}

/** What changes the columns. */
function columnActions(page: {
  readonly setColumns: (change: (now: Columns) => Columns) => void;
  readonly draft: DraftState;
  readonly executions: ReturnType<typeof useExecutions>;
  readonly versionIds: readonly string[];
}) {
  const { setColumns, draft, executions, versionIds } = page;
  const baseId = draft.base?.promptVersionId ?? null;
  return {
    edit: (change: Partial<Draft>) => {
      draft.edit(change);
      setColumns((columns) => withDraft(columns, baseId));
    },
    compare: () =>
      setColumns((columns) => {
        const next = nextToCompare(columns, versionIds, { isChanged: draft.changed, baseId });
        return withColumn(columns, next);
      }),
    choose: (slot: number, choice: string) =>
      setColumns((columns) => withChoice(columns, slot, choice)),
    setSettings: (slot: number, change: Partial<ModelSettings>) =>
      setColumns((columns) => withSettings(columns, slot, change)),
    remove: (slot: number) => {
      executions[slot]?.execution.reset();
      setColumns((columns) => columns.filter((one) => one.slot !== slot));
    },
    /** The columns of the draft show the version that it was saved as, unless edits made meanwhile are a draft again. */
    saved: (sent: Draft, version: PromptVersion) => {
      if (draft.saved(sent, version)) return;
      const choice = version.promptVersionId;
      setColumns((columns) =>
        columns.map((one) => (one.choice === draftChoice ? { ...one, choice } : one)),
      );
    },
  };
}

type Columns = readonly PlaygroundColumn[];

/** The columns, which the URL names. */
function useColumns(promptId: string) {
  const search = route.useSearch();
  const navigateFrom = useNavigateFrom(`/${promptId}/playground`);
  const [columns, show] = useState<Columns>(() => columnsFrom(search.versions));
  // A late response changes the latest columns, not those of the render that sent the request.
  const latest = useRef(columns);
  const setColumns = (change: (now: Columns) => Columns) => {
    const now = latest.current;
    const next = change(now);
    latest.current = next;
    show(next);
    const versions = versionsOf(next);
    if (versions === versionsOf(now)) return;
    void navigateFrom({
      to: '/prompts/$promptId/playground',
      params: { promptId },
      search: versions === undefined ? {} : { versions },
      replace: true,
      resetScroll: false,
    });
  };
  return [columns, setColumns] as const;
}

interface StartInput {
  readonly versionId: string;
  readonly settings: ModelSettings;
  readonly draft?: Draft;
}

function valuesOf(draft: Draft): TakenValues {
  return {
    variables: variablesOf(templatesOf(draft)).map(({ name }) => name),
    messages: draft.messages?.map(fromField) ?? [],
  };
}

/** One execution for each slot. */
function useExecutions(
  promptId: string,
  values: Readonly<Record<string, string>>,
  maxCostUSD: number | null,
) {
  const queries = useQueryClient();
  const { user } = useMe();
  const start = async ({ versionId, settings, draft }: StartInput) => {
    const version = await queries.ensureQueryData(versionQuery(promptId, versionId));
    const typed = playgroundValues(draft ? valuesOf(draft) : version, values);
    return startPlaygroundRun(user.userId, {
      ...{ version, settings, values: typed, maxCostUSD },
      ...(draft && { draft: toVersionInput(draft) }),
    });
  };
  return [useStartExecution(start), useStartExecution(start), useStartExecution(start)] as const;
}

/** The variables of what the columns show, and which of them are images and files. */
function useInputs(promptId: string, shown: readonly string[], draft: Draft | undefined) {
  // The URL can name versions that the list has not loaded.
  const ids = [...new Set(shown)].filter((id) => id !== draftChoice);
  const read = useQueries({ queries: ids.map((id) => versionQuery(promptId, id)) });
  const versions = read.flatMap(({ data }) => data ?? []);
  const isDraftShown = shown.includes(draftChoice) && draft !== undefined;
  const names = [
    ...(isDraftShown ? variablesOf(templatesOf(draft)).map(({ name }) => name) : []),
    ...versions.flatMap(({ variables }) => variables),
  ];
  const files = [
    ...(isDraftShown ? fileVariablesOf({ messages: draft.messages?.map(fromField) ?? [] }) : []),
    ...versions.flatMap((version) => [...fileVariablesOf(version)]),
  ];
  return {
    names: [...new Set(names)],
    files: new Map(files),
    versions,
    error: read.find(({ data, error }) => !data && error)?.error ?? null,
  };
}
