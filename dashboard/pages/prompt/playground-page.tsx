import { Button, Group, Skeleton } from '@mantine/core';
import { useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type FormEvent, Suspense, useState } from 'react';
import type { Prompt, PromptVersion } from '../../../src/client/index.ts';
import { CostField } from '../../components/fields/cost-field.tsx';
import { submitOnCtrlEnter } from '../../components/hooks/submit-on-ctrl-enter.ts';
import { Icon } from '../../components/icon.tsx';
import { lazyComponent } from '../../components/loading/lazy-component.tsx';
import { EmptyState } from '../../components/states/empty-state.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { columnsMax, draftChoice } from '../../data/prompts/playground-columns.ts';
import { promptQuery, versionsQuery } from '../../data/prompts/prompts.ts';
import { useValueSets, type ValueSets } from '../../data/prompts/value-sets.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { PinToButton } from './pin-to.tsx';
import { OutputDiff } from './playground/output-diff.tsx';
import classes from './playground/playground.module.css';
import { Column, type ListedVersion } from './playground/playground-column.tsx';
import { PlaygroundInputs } from './playground/playground-inputs.tsx';
import { usePlayground } from './playground/use-playground.ts';

const route = getRouteApi('/app/prompts/$promptId/playground');
const SaveVersionDialog = lazyComponent(() => import('./playground/save-version-dialog.tsx'), true);
const SaveValuesDialog = lazyComponent(() => import('./playground/save-values-dialog.tsx'), true);
const ExecutionValuesDialog = lazyComponent(
  () => import('./playground/execution-values-dialog.tsx'),
  true,
);

/** Executes the draft and versions, up to three side by side. */
export function PlaygroundPage() {
  const { promptId } = route.useParams();
  const { data: prompt } = useSuspenseQuery(promptQuery(promptId));
  const versions = useInfiniteQuery(versionsQuery(promptId));
  if (!can(useMe(), 'edit')) {
    return (
      <EmptyState icon="lock" title="Running requires the editor role">
        You can view this prompt and its versions.
      </EmptyState>
    );
  }
  if (versions.error && !versions.data) {
    return <ErrorState error={versions.error} onRetry={() => void versions.refetch()} />;
  }
  if (!versions.data) return <Skeleton height={420} />;
  return <Playground key={promptId} prompt={prompt} versions={versions.data} />;
}

type OpenDialog = 'save version' | 'save values' | 'execution' | null;
type PlaygroundState = ReturnType<typeof usePlayground>;

function Playground(props: {
  readonly prompt: Prompt;
  /** Those that are loaded, newest first. */
  readonly versions: readonly ListedVersion[];
}) {
  const { prompt, versions } = props;
  const { promptId } = prompt;
  const versionIds = versions.map(({ promptVersionId }) => promptVersionId);
  const playground = usePlayground(prompt, versionIds);
  const sets = useValueSets(useMe().user.userId, promptId);
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const [saved, setSaved] = useState<PromptVersion | null>(null);
  const { draft, columns } = playground;
  if (draft.error && !draft.draft) return <ErrorState error={draft.error} onRetry={draft.retry} />;
  if (!draft.draft) return <Skeleton height={420} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void playground.run(columns);
  };
  return (
    <>
      <form
        className={classes.page}
        data-full-width
        onSubmit={submit}
        onKeyDown={submitOnCtrlEnter}
      >
        <PlaygroundInputs
          playground={playground}
          draft={draft.draft}
          readOnly={prompt.archived}
          sets={sets}
          onFromExecution={() => setDialog('execution')}
          onSaveValues={() => setDialog('save values')}
        />
        <div className="stack">
          <RunBar playground={playground} onSave={() => setDialog('save version')} />
          {saved && !draft.changed && <Saved version={saved} />}
          <Columns playground={playground} versions={versions} />
        </div>
      </form>
      <Dialogs
        dialog={dialog}
        promptId={promptId}
        versionIds={versionIds}
        playground={playground}
        sets={sets}
        onSaved={setSaved}
        onClose={() => setDialog(null)}
      />
    </>
  );
}

function Saved({ version }: { readonly version: PromptVersion }) {
  const { promptId, promptVersionId: id, promptVersionLabel: label } = version;
  return (
    <p className={classes.note}>
      Saved as {label}. <PinToButton promptId={promptId} version={{ id, label }} />
    </p>
  );
}

/** Outside the form of the page: events of the dialogs' forms would bubble to it. */
function Dialogs(props: {
  readonly dialog: OpenDialog;
  readonly promptId: string;
  readonly versionIds: readonly string[];
  readonly playground: PlaygroundState;
  readonly sets: ValueSets;
  readonly onSaved: (version: PromptVersion) => void;
  readonly onClose: () => void;
}) {
  const { dialog, promptId, versionIds, playground, sets, onSaved, onClose } = props;
  const { draft, values, setValues, actions } = playground;
  return (
    <Suspense>
      {dialog === 'save version' && draft.draft && (
        <SaveVersionDialog
          promptId={promptId}
          draft={draft.draft}
          onEdit={draft.edit}
          onSaved={(sent, version) => {
            actions.saved(sent, version);
            onSaved(version);
          }}
          onClose={onClose}
        />
      )}
      {dialog === 'save values' && (
        <SaveValuesDialog sets={sets} values={values} onClose={onClose} />
      )}
      {dialog === 'execution' && (
        <ExecutionValuesDialog
          versionIds={versionIds.slice(0, versionsMax)}
          onChoose={setValues}
          onClose={onClose}
        />
      )}
    </Suspense>
  );
}

/** Limit of the API for one filter. */
const versionsMax = 20;

/** What can be done with all columns. */
function RunBar(props: { readonly playground: PlaygroundState; readonly onSave: () => void }) {
  const { playground, onSave } = props;
  const { columns, executions, create, draft, problem, usesDraft, savesDraft } = playground;
  const isRunning = columns.some(({ slot }) => executions[slot]?.execution.isPending);
  const runLabel = ['Run', 'Run', 'Run both', 'Run all three'][columns.length];
  return (
    <div className={classes.bar}>
      <Group gap="xs">
        <Button
          type="submit"
          loading={isRunning || create.isPending}
          disabled={problem !== null}
          title="Ctrl+Enter or ⌘+Enter"
        >
          {savesDraft ? 'Save draft and run' : runLabel}
        </Button>
        {columns.length < columnsMax && (
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={14} />}
            onClick={playground.actions.compare}
          >
            {columns.length === 1 ? 'Compare' : 'Add column'}
          </Button>
        )}
        <Button
          variant="default"
          disabled={!draft.changed || (usesDraft && problem !== null)}
          onClick={onSave}
        >
          Save as version
        </Button>
      </Group>
      <div className={classes.cost}>
        <CostField value={playground.maxCostUSD} onChange={playground.setMaxCostUSD} />
      </div>
      <FormError error={create.error} />
      <p className={classes.note} role="status">
        {problem ??
          (savesDraft
            ? 'The draft will be saved as a version first.'
            : usesDraft && 'The draft runs as it is. It is saved only with Save as version.')}
      </p>
      <p className={classes.note}>
        Each execution uses one AI Action. Lists and charts leave these out:{' '}
        <Link to="/history" search={{ playground: 'true' }}>
          show them
        </Link>
        .
      </p>
    </div>
  );
}

/** The columns, and the differences of their outputs. */
function Columns(props: {
  readonly playground: PlaygroundState;
  readonly versions: readonly ListedVersion[];
}) {
  const { playground } = props;
  const { columns, executions, draft, inputs, shownOf, actions, run } = playground;
  // The list may not have loaded the versions that the URL names.
  const listed = new Set(props.versions.map(({ promptVersionId }) => promptVersionId));
  const others = inputs.versions.filter(({ promptVersionId }) => !listed.has(promptVersionId));
  const versions = [...props.versions, ...others];
  const titled = columns.map((column, index) => {
    const shown = shownOf(column);
    const version = versions.find(({ promptVersionId }) => promptVersionId === shown);
    const label = shown === draftChoice ? 'Draft' : (version?.promptVersionLabel ?? 'Version');
    return { column, shown, title: titleOf(index, label) };
  });
  const outputs = columns.flatMap(({ slot }, index) => {
    const { data, isPending } = (executions[slot] ?? executions[0]).execution;
    if (isPending || data?.outputText === undefined) return [];
    // The column may show another version by now.
    const title = titleOf(index, data.promptVersionLabel);
    return { slot, title, text: data.outputText };
  });
  const isAlone = columns.length === 1;
  return (
    <>
      <FormError error={inputs.error} />
      <div className={classes.columns} data-columns={columns.length}>
        {titled.map(({ column, shown, title }) => (
          <Column
            key={column.slot}
            title={title}
            column={column}
            shown={shown}
            draft={draft.changed ? (draft.draft ?? null) : null}
            versions={versions}
            state={executions[column.slot] ?? executions[0]}
            onChoose={(choice) => actions.choose(column.slot, choice)}
            onSettings={(change) => actions.setSettings(column.slot, change)}
            onRun={isAlone ? undefined : () => void run([column])}
            onClose={isAlone ? undefined : () => actions.remove(column.slot)}
          />
        ))}
      </div>
      <OutputDiff outputs={outputs} />
    </>
  );
}

const titleOf = (index: number, label: string) => `${'ABC'[index]} · ${label}`;
