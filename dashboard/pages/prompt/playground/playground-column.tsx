import { ActionIcon, NativeSelect, Stack } from '@mantine/core';
import type { PromptVersion } from '../../../../src/client/index.ts';
import { ExecutionResult } from '../../../components/executions/execution-result.tsx';
import fields from '../../../components/fields/fields.module.css';
import { ModelField, SamplingFields } from '../../../components/fields/model-fields.tsx';
import { Icon } from '../../../components/icon.tsx';
import { Card } from '../../../components/layout/card.tsx';
import type { ModelSettings } from '../../../data/agents/model-settings.ts';
import type { ExecutionState } from '../../../data/executions/start-execution.ts';
import { draftChoice, type PlaygroundColumn } from '../../../data/prompts/playground-columns.ts';
import classes from './playground.module.css';

export type ListedVersion = ModelSettings &
  Pick<PromptVersion, 'promptVersionId' | 'promptVersionLabel'>;

/** One column of the playground: a version, its settings, and what came out. */
export function Column(props: {
  readonly title: string;
  readonly column: PlaygroundColumn;
  /** The id of the shown version, or `draftChoice`. */
  readonly shown: string;
  /** The unsaved draft, if any. */
  readonly draft: ModelSettings | null;
  readonly versions: readonly ListedVersion[];
  readonly state: ExecutionState;
  readonly onChoose: (choice: string) => void;
  readonly onSettings: (change: Partial<ModelSettings>) => void;
  /** Runs only this column; undefined if it is the only one. */
  readonly onRun: (() => void) | undefined;
  readonly onClose: (() => void) | undefined;
}) {
  const { title, column, shown, draft, versions, state } = props;
  const version = versions.find(({ promptVersionId }) => promptVersionId === shown);
  const settings = {
    value: column.settings,
    inherited: shown === draftChoice ? (draft ?? undefined) : version,
    onChange: props.onSettings,
    error: state.execution.error,
    prefix: 'agentConfig.',
  };
  const { temperature, topP, maxTokens } = column.settings;
  const changed = [temperature, topP, maxTokens].filter((one) => one !== null).length;
  return (
    <Card title={title} actions={<ColumnActions {...props} />}>
      <Stack gap="sm">
        <div className={classes.choice}>
          <NativeSelect
            label="Version"
            value={shown}
            onChange={({ currentTarget }) => props.onChoose(currentTarget.value)}
            data={[
              ...(draft || shown === draftChoice ? [{ value: draftChoice, label: 'Draft' }] : []),
              ...versions.map(({ promptVersionId, promptVersionLabel }) => ({
                value: promptVersionId,
                label: promptVersionLabel,
              })),
            ]}
          />
          <ModelField {...settings} />
        </div>
        <details className={fields.more}>
          <summary>Settings{changed > 0 && `, ${changed} changed`}</summary>
          <SamplingFields {...settings} />
        </details>
        {state.execution.isIdle && <p className={classes.idle}>The output will appear here.</p>}
        <ExecutionResult {...state} />
      </Stack>
    </Card>
  );
}

function ColumnActions(props: {
  readonly title: string;
  readonly onRun: (() => void) | undefined;
  readonly onClose: (() => void) | undefined;
}) {
  const { title, onRun, onClose } = props;
  return (
    <ActionIcon.Group>
      {onRun && (
        <ActionIcon variant="subtle" color="gray" aria-label={`Run only ${title}`} onClick={onRun}>
          <Icon name="play" size={14} />
        </ActionIcon>
      )}
      {onClose && (
        <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${title}`} onClick={onClose}>
          <Icon name="close" size={14} />
        </ActionIcon>
      )}
    </ActionIcon.Group>
  );
}
