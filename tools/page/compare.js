// The timelines of several jobs on one axis of time.
{
  const view = timeView(data.jobs.reduce((most, job) => Math.max(most, job.timeline.until), 0));
  data.jobs.forEach((job, i) => timeline(document.getElementById('timeline-' + i), job.timeline, {view, name: 'Timeline of ' + job.name}));
  view.changed();
}
tellWhenDrawn();
