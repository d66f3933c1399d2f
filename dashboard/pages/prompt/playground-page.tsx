import { Button, Group, Skeleton } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import {
  useInfiniteQuery,
  useQueries,
  useQueryClient,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Card } from '../../components/card.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { ValuesFields } from '../../components/fields/values-fields.tsx';
import { FormError } from '../../components/form-error.tsx';
import { submitOnCtrlEnter } from '../../components/hooks/submit-on-ctrl-enter.ts';
import { Icon } from '../../components/icon.tsx';
import { type ModelSettings, noModelSettings } from '../../data/agents/model-settings.ts';
import { useStartExecution } from '../../data/executions/start-execution.ts';
import { fileVariablesOf, fromField } from '../../data/prompts/messages.ts';
import { playgroundValues, startPlaygroundRun } from '../../data/prompts/playground.ts';
import {
  promptQuery,
  useCreateVersion,
  versionQuery,
  versionsQuery,
} from '../../data/prompts/prompts.ts';
import { variablesOf } from '../../data/prompts/templates.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { blankDraft, templatesOf, toVersionInput } from './draft.ts';
import classes from './playground.module.css';
import { draftChoice, PlaygroundSide, type SideChoice } from './playground-side.tsx';
import { useDraft } from './use-draft.ts';

const route = getRouteApi('/app/prompts/$promptId/playground');

/** Executes the draft or any version, alone or two side by side. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one page: the columns share the state of the form
export function PlaygroundPage() {
  const { promptId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const me = useMe();
  const queries = useQueryClient();
  const { data: prompt } = useSuspenseQuery(promptQuery(promptId));
  const versions = useInfiniteQuery(versionsQuery(promptId));
  const draft = useDraft(prompt);
  const create = useCreateVersion(promptId);
  const [values, setValues] = useSessionStorage<Record<string, string>>({
    key: `cueline-values-${promptId}`,
    defaultValue: {},
    getInitialValueInEffect: false,
  });
  const [settings, setSettings] = useState<readonly ModelSettings[]>([
    noModelSettings,
    noModelSettings,
  ]);
  const start = async (input: { versionId: string; settings: ModelSettings }) => {
    const version = await queries.ensureQueryData(versionQuery(promptId, input.versionId));
    const { settings } = input;
    return startPlaygroundRun(me.user.userId, {
      ...{ version, settings, values: playgroundValues(version, values) },
    });
  };
  const executions = [useStartExecution(start), useStartExecution(start)] as const;
  // The URL can name versions that the list has not loaded.
  const selectedIds = [search.left, search.right, versions.data?.[0]?.promptVersionId];
  const ids = [...new Set(selectedIds)].filter((id) => id !== undefined && id !== draftChoice);
  const read = useQueries({ queries: ids.map((id) => versionQuery(promptId, id ?? '')) });

  const retry = () => (versions.data ? draft.retry() : void versions.refetch());
  const failed = versions.data ? !draft.draft && draft.error : versions.error;
  if (failed) return <ErrorState error={failed} onRetry={retry} />;
  if (!versions.data || !draft.draft) return <Skeleton height={420} />;
  const defaultChoice = draft.changed ? draftChoice : versions.data[0]?.promptVersionId;
  if (defaultChoice === undefined) {
    return (
      <EmptyState icon="play" title="No versions yet">
        Write the prompt in the editor first.
      </EmptyState>
    );
  }
  // A draft that no longer exists was saved or discarded.
  const resolveChoice = (choice: string | undefined) =>
    choice === draftChoice && !draft.changed ? versions.data[0]?.promptVersionId : choice;
  const chosen = [
    resolveChoice(search.left) ?? defaultChoice,
    resolveChoice(search.right),
  ] as const;
  const sides: readonly SideChoice[] = chosen.flatMap((choice, index) =>
    choice === undefined ? [] : [{ choice, settings: settings[index] ?? noModelSettings }],
  );
  const namesOf = (choice: string): readonly string[] =>
    choice === draftChoice
      ? variablesOf(templatesOf(draft.draft ?? blankDraft)).map(({ name }) => name)
      : (read.find(({ data }) => data?.promptVersionId === choice)?.data?.variables ?? []);
  const names = [...new Set(sides.flatMap(({ choice }) => namesOf(choice)))];
  const filesOf = (choice: string) => {
    const messages = draft.draft?.messages?.map(fromField) ?? [];
    const version = read.find(({ data }) => data?.promptVersionId === choice)?.data;
    return [...fileVariablesOf(choice === draftChoice ? { messages } : (version ?? {}))];
  };
  const files = new Map(sides.flatMap(({ choice }) => filesOf(choice)));
  const choose = (index: number, choice: string | undefined) =>
    void navigate({
      search:
        index === 0 ? { ...search, left: choice as string } : sidesSearch(search.left, choice),
      replace: true,
      resetScroll: false,
    });
  const usesDraft = sides.some(({ choice }) => choice === draftChoice);
  const running = executions.some(({ execution }) => execution.isPending);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    let saved: string | undefined;
    const sent = draft.draft;
    if (usesDraft && sent) {
      const version = await create.mutateAsync(toVersionInput(sent)).catch(() => null);
      if (!version) return;
      saved = version.promptVersionId;
      draft.saved(sent, version);
      const [left, right] = chosen.map((choice) => (choice === draftChoice ? saved : choice));
      await navigate({ search: sidesSearch(left, right), replace: true, resetScroll: false });
    }
    sides.forEach((side, index) => {
      const versionId = side.choice === draftChoice ? (saved ?? '') : side.choice;
      executions[index]?.execution.mutate({ versionId, settings: side.settings });
    });
  };
  if (!can(me, 'edit')) {
    return (
      <EmptyState icon="lock" title="Running requires the editor role">
        You can view this prompt and its versions.
      </EmptyState>
    );
  }
  return (
    <form
      className={classes.page}
      onSubmit={(event) => void submit(event)}
      onKeyDown={submitOnCtrlEnter}
    >
      <div className={classes.values}>
        <Card title="Variables">
          {names.length === 0 ? (
            <p className={classes.note}>No variables in this version.</p>
          ) : (
            <ValuesFields
              fields={names.map((name) => ({
                name,
                required: !files.has(name),
                file: files.get(name),
              }))}
              values={values}
              onChange={setValues}
            />
          )}
          <Group gap="xs" mt="md">
            <Button type="submit" loading={running || create.isPending}>
              {usesDraft ? 'Save draft and run' : sides.length > 1 ? 'Run both' : 'Run'}
            </Button>
            {sides.length === 1 && (
              <Button
                variant="default"
                leftSection={<Icon name="plus" size={14} />}
                onClick={() => choose(1, versions.data[1]?.promptVersionId ?? defaultChoice)}
              >
                Compare
              </Button>
            )}
          </Group>
          <FormError error={create.error} />
          <p className={classes.note}>
            {usesDraft && 'The draft will be saved as a version first. '}
            Each execution uses one AI Action and is recorded under a private, archived agent of
            this playground.
          </p>
        </Card>
      </div>
      <div className={classes.sides} data-sides={sides.length}>
        {sides.map((side, index) => (
          <PlaygroundSide
            key={index}
            title={sides.length === 1 ? 'Execution' : index === 0 ? 'Left' : 'Right'}
            side={side}
            draft={draft.changed ? (draft.draft ?? null) : null}
            versions={versions.data}
            state={executions[index] ?? executions[0]}
            onChoose={(choice) => choose(index, choice)}
            onSettings={(change) =>
              setSettings(settings.map((one, at) => (at === index ? { ...one, ...change } : one)))
            }
            onClose={index === 1 ? () => choose(1, undefined) : undefined}
          />
        ))}
      </div>
    </form>
  );
}

function sidesSearch(left: string | undefined, right: string | undefined) {
  return { ...(left !== undefined && { left }), ...(right !== undefined && { right }) };
}
