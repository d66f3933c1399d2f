import { Button, Group, Skeleton } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useMemo } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { NameFields } from '../../components/fields/name-fields.tsx';
import { useNavigateFrom } from '../../components/hooks/use-navigate-from.ts';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { EmptyState } from '../../components/states/empty-state.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { agentsQuery } from '../../data/agents/agents.ts';
import { useNamedDefinition } from '../../data/workflows/agents-by-name.ts';
import { type DefinitionFormat, writeDefinition } from '../../data/workflows/definition-text.ts';
import { type Template, templateDefinition, templates } from '../../data/workflows/templates.ts';
import { useCreateWorkflow } from '../../data/workflows/workflow-actions.ts';
import type { WorkflowDefinition } from '../../data/workflows/workflows.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { ConfirmDialog } from '../../kit/confirm-dialog.tsx';
import { openDialog } from '../../kit/dialog.tsx';
import DefinitionEditor from '../workflow/definition/definition-editor.tsx';
import { TemplateAgents } from './template-agents.tsx';
import { TemplateChoice } from './template-choice.tsx';
import classes from './workflows.module.css';

/** Creates a workflow and pins its first version. */
export function NewWorkflowPage() {
  const canEdit = can(useMe(), 'edit');
  const agents = useQuery(agentsQuery({ limit: 1, status: 'Deployed' }));
  return (
    <>
      <PageHeader
        title="New workflow"
        parent={{ label: 'Workflows', to: '/workflows' }}
        description="Each step executes a deployed agent with values from the input or from earlier steps."
      />
      {!canEdit ? (
        <EmptyState icon="lock" title="Creating workflows requires the editor role" />
      ) : agents.isPending ? (
        <Skeleton height={480} />
      ) : (
        <Form first={agents.data?.agents[0]} />
      )}
    </>
  );
}

interface Draft {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  readonly format: DefinitionFormat;
  /** The title of the template that it started from. */
  readonly template?: string;
}

const blank = { name: '', description: '', format: 'YAML' } as const;

function Form({ first }: { readonly first: Agent | undefined }) {
  // Kept until the workflow is created, across pages.
  const [draft, store, discard] = useSessionStorage<Draft | null>({
    key: `cueline-new-workflow-${useMe().workspaceId}`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  const example = useMemo(() => exampleOf(first), [first]);
  const named = useNamedDefinition(first ? example : undefined);
  const textOf = (template: Template | null, format: DefinitionFormat) =>
    writeDefinition(template ? templateDefinition(template) : (named ?? example), format);
  const initial: Draft = { ...blank, text: textOf(null, blank.format) };
  const { text, format, template: title, ...about } = draft ?? initial;
  const template = templates.find((one) => one.title === title) ?? null;
  const edit = (change: Partial<Draft>) =>
    store({ ...about, text, format, ...(title !== undefined && { template: title }), ...change });
  const start = (by: Template | null) => {
    const isNamed = about.name !== '' && about.name !== template?.workflow.name;
    const name = isNamed ? about.name : (by?.workflow.name ?? '');
    store({ ...about, name, text: textOf(by, format), format, ...(by && { template: by.title }) });
  };
  if (first && named === null) return <Skeleton height={480} />;
  return (
    <div className={classes.form}>
      <TemplateChoice
        chosen={template}
        // Replaces an untouched template without asking.
        onChoose={(by) => (text === textOf(template, format) ? start(by) : ask(() => start(by)))}
      />
      {template && <TemplateAgents key={template.title} template={template} />}
      <DraftForm
        draft={{ ...about, text, format }}
        isStored={draft !== null}
        onEdit={edit}
        onDiscard={discard}
      />
    </div>
  );
}

function ask(replace: () => void): void {
  openDialog(
    <ConfirmDialog
      title="Replace the definition?"
      confirm="Replace"
      destructive={false}
      action={replace}
    >
      Your changes to the definition are discarded.
    </ConfirmDialog>,
  );
}

function DraftForm(props: {
  readonly draft: Omit<Draft, 'template'>;
  readonly isStored: boolean;
  readonly onEdit: (change: Partial<Draft>) => void;
  readonly onDiscard: () => void;
}) {
  const { isStored, onEdit, onDiscard } = props;
  const { text, format, ...about } = props.draft;
  const navigateFrom = useNavigateFrom('/workflows/new');
  const create = useCreateWorkflow(({ workflowId }) => {
    void navigateFrom({ to: '/workflows/$workflowId', params: { workflowId } }).then(onDiscard);
  });
  const submit = (event: FormEvent, definition: unknown) => {
    event.preventDefault();
    // The server has validated it.
    const workflow = { ...about, definition: definition as WorkflowDefinition };
    create.mutate({ ...workflow, description: about.description || null });
  };
  return (
    <>
      <div className={classes.about}>
        <NameFields
          name={about.name}
          description={about.description}
          onChange={onEdit}
          error={create.error}
        />
      </div>
      <DefinitionEditor
        text={text}
        format={format}
        readOnly={false}
        onChange={(text, format) => onEdit({ text, format })}
      >
        {({ definition, valid }) => (
          <form className={classes.foot} onSubmit={(event) => submit(event, definition)}>
            <FormError error={create.error} />
            <Group gap="xs">
              <Button
                type="submit"
                loading={create.isPending}
                disabled={!valid || about.name.trim() === ''}
              >
                Create workflow
              </Button>
              {isStored && (
                <Button variant="default" disabled={create.isPending} onClick={onDiscard}>
                  Discard draft
                </Button>
              )}
            </Group>
          </form>
        )}
      </DefinitionEditor>
    </>
  );
}

/** One step that passes the input to an existing agent. */
function exampleOf(agent: Agent | undefined): WorkflowDefinition {
  const names = agent?.requiredVariables ?? ['text'];
  const step = {
    ...{ name: 'first', agentId: agent?.agentId ?? 'agt_', after: [], when: null, forEach: null },
    variables: Object.fromEntries(names.map((name) => [name, `{{input.${name}}}`])),
    ...{ fallback: null, onFailure: 'fail' as const, onUnreadable: 'fail' as const },
  };
  const input = { required: names, optional: [], defaults: {} };
  return { input, timeoutMs: 3_600_000, steps: [step], output: null };
}
