import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { Fragment } from 'react';
import { workflowQuery } from '../../data/workflows.ts';
import problem from '../../parts/form-problem.module.css';
import { Identifier } from '../../parts/identifier.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { EnabledBadge } from '../../parts/state-badge.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { WorkflowActions } from './workflow-actions.tsx';

const route = getRouteApi('/app/workflows/$workflowId');

const areas = [
  { to: '/workflows/$workflowId', label: 'Overview' },
  { to: '/workflows/$workflowId/runs', label: 'Runs' },
  { to: '/workflows/$workflowId/run', label: 'Start' },
  { to: '/workflows/$workflowId/definition', label: 'Definition' },
  { to: '/workflows/$workflowId/versions', label: 'Versions' },
  { to: '/workflows/$workflowId/triggers', label: 'Triggers' },
] as const;

export function WorkflowPage() {
  const { workflowId } = route.useParams();
  const { data: workflow } = useSuspenseQuery(workflowQuery(workflowId));
  return (
    // Of another workflow all is another: what was ordered of this one ends as its own.
    <Fragment key={workflowId}>
      <PageHeader
        parent={{ label: 'Workflows', to: '/workflows' }}
        title={workflow.name}
        badge={<EnabledBadge enabled={workflow.enabled && !workflow.problems} />}
        about={workflow.description}
        description={<Identifier id={workflowId} what="the workflow's identifier" />}
        actions={<WorkflowActions workflow={workflow} />}
      />
      {workflow.problems && (
        <div className={problem.problem} role="alert">
          The pinned version cannot start. Save a version without these problems and pin it:
          {workflow.problems.map(({ step, path, message }) => (
            <div key={path}>
              {step}: {message}
            </div>
          ))}
        </div>
      )}
      <Tabs label="Areas of the workflow">
        {areas.map(({ to, label }) => (
          <Link
            key={to}
            to={to}
            params={{ workflowId }}
            // A run belongs to the runs; below the overview stand all the others.
            activeOptions={{ exact: label === 'Overview', includeSearch: false }}
          >
            {label}
          </Link>
        ))}
      </Tabs>
      <Outlet />
    </Fragment>
  );
}
