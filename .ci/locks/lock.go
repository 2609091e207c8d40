// Two clients with `api.Lock` of Consul's own Go client, 1.8.7: `a` holds it for a moment while `b` waits for it. Each stops when its channel
// says that the lock is lost. Time is real: nothing here waits for a TTL.
package main

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"
)

func tell(what string) {
	request, _ := http.NewRequest("PUT", os.Getenv("FENCEPOST_URL")+"/"+what, nil)
	if answer, err := http.DefaultClient.Do(request); err == nil {
		answer.Body.Close()
	}
}

// contend holds the lock, if it gets it, until it is lost or `enough` is closed. It says when it has it.
func contend(name string, stop, enough <-chan struct{}, has chan<- struct{}) {
	client, err := api.NewClient(&api.Config{Address: os.Getenv("CONSUL_HTTP_ADDR_" + strings.ToUpper(name))})
	if err != nil {
		panic(err)
	}
	// The client cannot ask for no lock-delay at all.
	session := &api.SessionEntry{TTL: "10s", LockDelay: time.Millisecond}
	lock, err := client.LockOpts(&api.LockOptions{Key: "lead", SessionOpts: session})
	if err != nil {
		panic(err)
	}
	lost, err := lock.Lock(stop)
	if err != nil || lost == nil {
		return
	}
	tell("inside?key=lead&client=" + name)
	close(has)
	select {
	case <-lost:
	case <-enough:
	}
	tell("outside?key=lead&client=" + name)
	lock.Unlock()
}

func main() {
	aHas, bHas, enough, stop := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	var both sync.WaitGroup
	both.Add(2)
	go func() {
		contend("a", stop, enough, aHas)
		both.Done()
	}()
	wait(aHas, 300)
	time.Sleep(100 * time.Millisecond)
	go func() {
		contend("b", stop, bHas, bHas)
		both.Done()
	}()
	wait(bHas, 500)
	close(enough)
	wait(bHas, 1000)
	close(stop)
	done := make(chan struct{})
	go func() {
		both.Wait()
		close(done)
	}()
	wait(done, 500)
}

func wait(done <-chan struct{}, milliseconds int) {
	select {
	case <-done:
	case <-time.After(time.Duration(milliseconds) * time.Millisecond):
	}
}
