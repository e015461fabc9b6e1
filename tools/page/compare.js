// The timelines of several jobs; those of one axis of time, of which there is one unless they say otherwise, zoom together.
{
  const views = new Map();
  for (const {axis, timeline: {until}} of data.jobs) {
    const longest = Math.max(views.get(axis)?.end ?? 0, until);
    views.set(axis, timeView(longest));
  }
  data.jobs.forEach((job, i) => {
    timeline(document.getElementById('timeline-' + i), job.timeline, {view: views.get(job.axis), name: 'Timeline of ' + job.name});
    if (job.layers) layerColumns(document.getElementById('layer-columns-' + i), job.layers);
  });
  for (const view of views.values()) view.changed();
}
tellWhenDrawn();
