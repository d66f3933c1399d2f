import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { CodeBlock } from '../../components/code/code-block.tsx';
import { Time } from '../../components/figures/time.tsx';
import { Card, DescriptionList } from '../../components/layout/card.tsx';
import columns from '../../components/layout/two-columns.module.css';
import { useAgentNames } from '../../data/agents/agent-names.ts';
import { stringify } from '../../data/text/exact-json.ts';
import { formatDuration } from '../../data/text/format.ts';
import { graphSteps } from '../../data/workflows/workflow-graph.ts';
import { workflowQuery } from '../../data/workflows/workflows.ts';
import { useMemberNames } from '../../data/workspace/member-names.ts';
import { Graph } from './graph/graph.tsx';
import { WorkflowFigures } from './runs/workflow-figures.tsx';
import { StepCard } from './steps/step-card.tsx';
import classes from './workflow.module.css';

const route = getRouteApi('/app/workflows/$workflowId/');

/** The pinned version as a graph, and details of the selected step. */
export function OverviewPage() {
  const { workflowId } = route.useParams();
  const { step: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: workflow } = useSuspenseQuery(workflowQuery(workflowId));
  const { definition } = workflow;
  const steps = useMemo(() => graphSteps(definition), [definition]);
  const nameOf = useAgentNames(definition.steps.map(({ agentId }) => agentId));
  const memberOf = useMemberNames();
  const selected = steps.find(({ name }) => name === chosen);
  const step = selected && definition.steps[selected.index];
  const choose = (step: string) =>
    void navigate({
      search: step === chosen ? {} : { step },
      replace: true,
      resetScroll: false,
    });
  const { input, timeoutMs, output } = definition;
  const inputs = [
    ...input.required.map((name) => `${name} (required)`),
    ...new Set([...input.optional, ...Object.keys(input.defaults)]),
  ];
  return (
    <div className="areas">
      <WorkflowFigures workflow={workflow} />
      <Graph
        steps={steps}
        label="Steps of the workflow"
        nameOf={nameOf}
        chosen={selected?.index ?? null}
        onChoose={({ name }) => choose(name)}
      />
      <div className={columns.columns}>
        <div className={columns.main}>
          {selected && step ? (
            <StepCard
              step={step}
              dependencies={selected.dependencies.map(({ name }) => name)}
              nameOf={nameOf}
            />
          ) : (
            <p className="note">Select a step to see its details.</p>
          )}
        </div>
        <aside className={columns.side} aria-label="Workflow summary">
          <Card title="Pinned version">
            <DescriptionList
              items={[
                ['Version', <code key="version">{workflow.workflowVersionLabel}</code>],
                ['Steps', workflow.stepCount],
                ['Timeout', formatDuration(timeoutMs)],
                ['Updated', <Time key="changed" at={workflow.updatedAt} relative />],
                ['Created by', memberOf(workflow.createdBy)],
              ]}
            />
          </Card>
          <Card title="Input">
            {inputs.length === 0 ? (
              <p className="note">No input declared.</p>
            ) : (
              <ul className={classes.names}>
                {inputs.map((name) => (
                  <li key={name}>
                    <code>{name}</code>
                  </li>
                ))}
              </ul>
            )}
          </Card>
          {output !== null && <CodeBlock label="Output" code={stringify(output, 2)} />}
        </aside>
      </div>
    </div>
  );
}
