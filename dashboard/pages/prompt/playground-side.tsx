import { ActionIcon, NativeSelect, Stack } from '@mantine/core';
import type { PromptVersion } from '../../../src/client/index.ts';
import { Card } from '../../components/card.tsx';
import { ExecutionResult } from '../../components/execution-result.tsx';
import { ModelFields } from '../../components/fields/model-fields.tsx';
import { Icon } from '../../components/icon.tsx';
import type { ModelSettings } from '../../data/agents/model-settings.ts';
import type { ExecutionState } from '../../data/executions/start-execution.ts';

export interface SideChoice {
  /** A version id, or `draftChoice`. */
  readonly choice: string;
  /** Overrides of the version's settings. */
  readonly settings: ModelSettings;
}

export const draftChoice = 'draft';

/** One side of the playground: version, settings and result. */
export function PlaygroundSide(props: {
  readonly title: string;
  readonly side: SideChoice;
  /** The unsaved draft, if any. */
  readonly draft: ModelSettings | null;
  readonly versions: readonly (ModelSettings &
    Pick<PromptVersion, 'promptVersionId' | 'promptVersionLabel'>)[];
  readonly state: ExecutionState;
  readonly onChoose: (choice: string) => void;
  readonly onSettings: (change: Partial<ModelSettings>) => void;
  readonly onClose: (() => void) | undefined;
}) {
  const { side, draft, versions, state } = props;
  const version = versions.find(({ promptVersionId }) => promptVersionId === side.choice);
  return (
    <Card
      title={props.title}
      actions={
        props.onClose && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Stop comparing"
            onClick={props.onClose}
          >
            <Icon name="close" size={14} />
          </ActionIcon>
        )
      }
    >
      <Stack gap="md">
        <NativeSelect
          label="Version"
          value={side.choice}
          onChange={({ currentTarget }) => props.onChoose(currentTarget.value)}
          data={[
            ...(draft ? [{ value: draftChoice, label: 'Draft (saves a version)' }] : []),
            ...versions.map(({ promptVersionId, promptVersionLabel }) => ({
              value: promptVersionId,
              label: promptVersionLabel,
            })),
          ]}
        />
        <ModelFields
          value={side.settings}
          inherited={side.choice === draftChoice ? (draft ?? undefined) : version}
          onChange={props.onSettings}
          error={state.execution.error}
          prefix="agentConfig."
        />
        <ExecutionResult {...state} />
      </Stack>
    </Card>
  );
}
