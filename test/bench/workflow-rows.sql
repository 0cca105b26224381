-- The rows of a workflow of four steps, by hand: the start, then in each step an effect done, one armed, and a notice.

-- commit 1
insert into paystateInstances (id, stamp, life, workflow, hash, version, status, snapshot, createdAt, updatedAt)
values (@id, @id || '.1', @id || '.1', 'bench@1', '0123456789abcdef', 1, 'active', '{"value":"one","context":{"results":[]},"status":"active"}', @at, @at);
insert into paystateTasks (id, instance, workflow, kind, name, payload, dueAt, visibleAt, holder, token, crashes, counted, failures, priority)
values (@id || '.1:0', @id, 'bench@1', 'effect', 'work', '{"step":1}', @at, @at + 15000, '0123456789abcdef', 1, 0, 0, 0, 0);
insert into paystateHistory (instance, version, stamp, at, event, value)
values (@id, 1, @id || '.1', @at, '{"type":"$started"}', '"one"');

-- commit 2 3 4
delete from paystateTasks where id = @id || '.' || (@commit - 1) || ':0' and token = 1;
update paystateInstances set version = version + 1, stamp = @id || '.' || @commit, workflow = 'bench@1', hash = '0123456789abcdef',
  status = 'active', snapshot = '{"value":"working","context":{"results":[1,2]},"status":"active"}', updatedAt = @at
where id = @id and stamp = @id || '.' || (@commit - 1);
insert into paystateTasks (id, instance, workflow, kind, name, payload, dueAt, visibleAt, holder, token, crashes, counted, failures, priority)
values (@id || '.' || @commit || ':0', @id, 'bench@1', 'effect', 'work', '{"step":2}', @at, @at + 15000, '0123456789abcdef', 1, 0, 0, 0, 0);
insert into paystateNotices (id, transactionId, event, status, createdAt)
values (@id || ':' || (@commit - 1), @id, 'transaction.pending', 'pending', @at);
insert into paystateHistory (instance, version, stamp, at, event, value)
values (@id, @commit, @id || '.' || @commit, @at, '{"type":"WORKED","result":1}', '"working"');

-- commit 5
delete from paystateTasks where id = @id || '.4:0' and token = 1;
update paystateInstances set version = version + 1, stamp = @id || '.5', workflow = 'bench@1', hash = '0123456789abcdef',
  status = 'done', snapshot = '{"value":"done","context":{"results":[1,2,3,4]},"status":"done"}', updatedAt = @at
where id = @id and stamp = @id || '.4';
insert into paystateNotices (id, transactionId, event, status, createdAt)
values (@id || ':4', @id, 'transaction.pending', 'pending', @at);
insert into paystateHistory (instance, version, stamp, at, event, value)
values (@id, 5, @id || '.5', @at, '{"type":"WORKED","result":4}', '"done"');
