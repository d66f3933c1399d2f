import { Analytics } from '../../components/analytics/analytics.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';

export function AnalyticsPage() {
  return (
    <>
      <PageHeader title="Analytics" />
      <Analytics />
    </>
  );
}
