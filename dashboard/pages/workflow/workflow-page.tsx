import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { Fragment } from 'react';
import { Identifier } from '../../components/code/identifier.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Tabs } from '../../components/layout/tabs.tsx';
import formError from '../../components/states/form-error.module.css';
import { EnabledBadge } from '../../components/states/state-badge.tsx';
import { workflowQuery } from '../../data/workflows/workflows.ts';
import { WorkflowActions } from './workflow-actions.tsx';

const route = getRouteApi('/app/workflows/$workflowId');

const areas = [
  { to: '/workflows/$workflowId', label: 'Overview' },
  { to: '/workflows/$workflowId/runs', label: 'Workflow runs' },
  { to: '/workflows/$workflowId/run', label: 'Run' },
  { to: '/workflows/$workflowId/definition', label: 'Definition' },
  { to: '/workflows/$workflowId/versions', label: 'Versions' },
  { to: '/workflows/$workflowId/triggers', label: 'Triggers' },
] as const;

export function WorkflowPage() {
  const { workflowId } = route.useParams();
  const { data: workflow } = useSuspenseQuery(workflowQuery(workflowId));
  return (
    // Resets all state for another workflow, so that pending mutations end with the old page.
    <Fragment key={workflowId}>
      <PageHeader
        parent={{ label: 'Workflows', to: '/workflows' }}
        title={workflow.name}
        badge={
          <>
            <EnabledBadge enabled={workflow.enabled && !workflow.problems} />
            <Identifier id={workflowId} name="workflow ID" />
          </>
        }
        about={workflow.description}
        actions={<WorkflowActions workflow={workflow} />}
      />
      {workflow.problems && (
        <div className={formError.problem} role="alert">
          The pinned version cannot start. Save a version without these problems and pin it:
          {workflow.problems.map(({ step, path, message }) => (
            <div key={path}>
              {step}: {message}
            </div>
          ))}
        </div>
      )}
      <Tabs label="Workflow" page={workflow.name}>
        {areas.map(({ to, label }) => (
          <Link
            key={to}
            to={to}
            params={{ workflowId }}
            // Nested pages keep their tab active; every tab is nested below the overview.
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
