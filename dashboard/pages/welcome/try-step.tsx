import { Button, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { CodeBlock } from '../../components/code-block.tsx';
import { FormError } from '../../components/form-error.tsx';
import { agentsQuery } from '../../data/agents/agents.ts';
import { execute, useStartExecution } from '../../data/executions/start-execution.ts';
import { versionQuery } from '../../data/prompts/prompts.ts';
import { formatDuration } from '../../data/text/format.ts';
import { Step } from './step.tsx';

/** The demo agent that Cueline creates on first start. Its built-in model echoes the prompt. */
const demoName = 'Explainer';
const echo = 'cueline/echo';

export function TryStep() {
  const [topic, setTopic] = useState('tides');
  // The search may return similar names, whose models may cost money.
  const found = useQuery(agentsQuery({ q: demoName, limit: 100 })).data?.agents;
  const named = found?.find(({ agentName }) => agentName === demoName);
  const { promptId = '', promptVersionId = '', agentConfig } = named ?? {};
  const version = useQuery({ ...versionQuery(promptId, promptVersionId), enabled: !!named }).data;
  const demo = (agentConfig?.model ?? version?.model) === echo ? named : undefined;
  const { execution } = useStartExecution((agentId: string) => execute(agentId, { topic }));
  if (!demo) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    execution.mutate(demo.agentId);
  };
  const record = execution.data;
  return (
    <Step
      title="Try the demo agent"
      description="Uses the built-in echo model, which needs no provider and returns the prompt."
      done={record?.status === 'success'}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label="topic"
            required
            withAsterisk={false}
            value={topic}
            onChange={({ currentTarget }) => setTopic(currentTarget.value)}
          />
          <FormError error={execution.error} />
          <div>
            <Button type="submit" variant="default" loading={execution.isPending}>
              Run {demo.agentName}
            </Button>
          </div>
          {record && (
            <div role="status">
              <CodeBlock label="Output" code={record.outputText ?? record.error ?? ''} />
              <p>
                {record.status} in {formatDuration(record.latencyMs)}.{' '}
                <Link to="/agents/$agentId" params={{ agentId: demo.agentId }}>
                  View agent
                </Link>
              </p>
            </div>
          )}
        </Stack>
      </form>
    </Step>
  );
}
